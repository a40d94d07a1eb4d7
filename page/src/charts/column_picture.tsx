// A small picture of a column: bars stacked by class, of levels or of numbers in bins.
import { scaleBand, scaleLinear } from "d3-scale";
import type { Schemas } from "../api/client";
import { ChartWithTable } from "../components/chart_with_table";
import { compact } from "../numbers";

type Picture = Schemas["PictureView"];

const WIDTH = 168;
const HEIGHT = 36;

export function ColumnPicture({ name, picture, groups }: { name: string; picture: Picture; groups: readonly string[] }) {
  const bins = binNames(picture);
  if (!bins.length) return <span class="quiet">no values</span>;
  const totals = bins.map((_, bin) => picture.counts.reduce((sum, row) => sum + (row[bin] ?? 0), 0));
  const x = scaleBand<number>().domain(bins.map((_, bin) => bin)).range([0, WIDTH]).paddingInner(picture.edges.length ? 0.06 : 0.18);
  const y = scaleLinear().domain([0, Math.max(1, ...totals)]).range([0, HEIGHT]);
  const twin = {
    caption: `${name}, rows in the picture`,
    head: [picture.edges.length ? "from – to" : "level", ...(groups.length > 1 ? groups : ["rows"])],
    rows: bins.map((bin, place) => [bin, ...picture.counts.map((row) => row[place] ?? 0)]),
  };
  return (
    <ChartWithTable twin={twin}>
      <svg class="picture" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} role="img" aria-label={`Distribution of ${name}`}>
        {bins.map((bin, place) => {
          let below = 0;
          return picture.counts.map((row, group) => {
            const tall = y(row[place] ?? 0);
            below += tall;
            return tall > 0 && (
              <rect key={`${place}/${group}`} class={`state-${group % 6}`} x={x(place)} y={HEIGHT - below} width={x.bandwidth()} height={tall}>
                <title>{`${bin}${groups.length > 1 ? `, ${groups[group]}` : ""}: ${row[place]}`}</title>
              </rect>
            );
          });
        })}
      </svg>
    </ChartWithTable>
  );
}

function binNames(picture: Picture): string[] {
  if (picture.edges.length < 2) return [...picture.levels];
  return picture.edges.slice(1).map((edge, place) => `${compact(picture.edges[place]!)} – ${compact(edge)}`);
}
