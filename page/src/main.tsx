// The entry: styles, theme, and the shell around the page that the URL names.
import "./styles/main.css";
import "./styles/network.css";
import { render } from "preact";
import { Shell } from "./shell";
import { applyTheme } from "./theme";

applyTheme();
render(<Shell />, document.getElementById("page")!);
