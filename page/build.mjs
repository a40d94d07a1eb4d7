// Bundles the page into the Python package: bundle/index.html, bundle/assets/main.js and main.css, nothing inline.
import { cp, mkdir, rm, stat, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const bundle = here("../src/bayeswise/workbench/bundle");
const most = 200_000; // bytes of everything, gzipped

await rm(bundle, { recursive: true, force: true });
await mkdir(`${bundle}/assets`, { recursive: true });
await build({
  entryPoints: [here("src/main.tsx")],
  outdir: `${bundle}/assets`,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "linked",
  logLevel: "warning",
});
await cp(here("index.html"), `${bundle}/index.html`);
let total = 0;
for (const name of ["index.html", "assets/main.js", "assets/main.css"]) {
  await stat(`${bundle}/${name}`);
  total += gzipSync(await readFile(`${bundle}/${name}`)).length;
}
console.log(`page: ${(total / 1000).toFixed(1)} kB gzipped`);
if (total > most) throw new Error(`the bundle has ${total} bytes gzipped; ${most} are allowed`);
