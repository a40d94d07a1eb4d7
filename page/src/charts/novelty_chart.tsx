// How ordinary the rows are under the model: p-values in ten bins, which are even where the rows are like those it has learned.
import type { Schemas } from "../api/client";
import { ChartWithTable } from "../components/chart_with_table";
import { percent } from "../numbers";
import { Plane } from "./plane";

export function NoveltyChart({ view: { shares } }: { view: Schemas["NoveltyView"] }) {
  const bin = (place: number) => `${(place / shares.length).toFixed(1)} to ${((place + 1) / shares.length).toFixed(1)}`;
  const twin = { caption: "How ordinary the rows are", head: ["p-value", "share of the rows"], rows: shares.map((share, place) => [bin(place), percent(share, 1)]) };
  return (
    <ChartWithTable twin={twin}>
      <Plane name="How ordinary the rows are" x={[0, 1]} y={[0, Math.max(0.2, ...shares)]} across="p-value: unusual ← → ordinary" up="share of the rows" height={260}>
        {({ x, y }) => (
          <>
            {shares.map((share, place) => (
              <rect key={place} class={place === 0 ? "state-1" : "state-0"} x={x(place / shares.length) + 1} width={x(1 / shares.length) - x(0) - 2} y={y(share)} height={y(0) - y(share)}>
                <title>{`${bin(place)}: ${percent(share, 1)}`}</title>
              </rect>
            ))}
            <line class="best-edge" x1={x(0)} x2={x(1)} y1={y(1 / shares.length)} y2={y(1 / shares.length)} />
          </>
        )}
      </Plane>
    </ChartWithTable>
  );
}
