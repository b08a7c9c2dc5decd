import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatCount } from '../format.ts';

interface Series {
  readonly name: string;
  /** A colour of the tokens. */
  readonly color: 'accent' | 'warn' | 'bad';
  readonly values: readonly number[];
}

interface ChartProps {
  /** What the chart shows. */
  readonly label: string;
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
}

const height = 220;
/** Each number stands for a period of its own, so it is a bar. */
const bars = UPlot.paths.bars?.({ size: [0.8, 32], align: 1 }) as UPlot.Series.PathBuilder;

/** A chart of numbers over time. A table beside it says the same to those who cannot see it. */
export function Chart({ label, times, series }: ChartProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const drawn = JSON.stringify([times, series]);
  useEffect(() => {
    const parent = place.current;
    if (parent === null) return;
    const draw = (): UPlot =>
      new UPlot(
        optionsOf(times, series, parent),
        [times as number[], ...series.map(({ values }) => values as number[])],
        parent,
      );
    let chart = draw();
    const resized = new ResizeObserver(() => chart.setSize({ width: parent.clientWidth, height }));
    resized.observe(parent);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    // The chart is drawn on a canvas, which does not follow the style sheet.
    const recolor = (): void => {
      chart.destroy();
      chart = draw();
    };
    scheme.addEventListener('change', recolor);
    return () => {
      scheme.removeEventListener('change', recolor);
      resized.disconnect();
      chart.destroy();
    };
  }, [drawn]);
  const total = formatCount((series[0]?.values ?? []).reduce((sum, value) => sum + value, 0));
  return <div class="chart" role="img" aria-label={`${label}: ${total} in all`} ref={place} />;
}

function optionsOf(times: readonly number[], series: readonly Series[], parent: HTMLElement): UPlot.Options {
  const token = (name: string): string => getComputedStyle(parent).getPropertyValue(`--${name}`).trim();
  const axis = { stroke: token('soft'), grid: { stroke: token('line'), width: 1 }, ticks: { show: false } };
  return {
    width: parent.clientWidth,
    height,
    cursor: { drag: { x: false, y: false } },
    scales: {
      // The last period has room for its bar.
      x: { range: (_chart, min, max) => [min, max + (max - min) / Math.max(1, times.length - 1)] },
      y: { range: (_chart, _min, max) => [0, Math.max(1, max * 1.1)] },
    },
    axes: [axis, { ...axis, size: 64, values: (_chart, values) => values.map(axisText) }],
    series: [
      {},
      ...series.map(({ name, color }) => ({
        label: name,
        stroke: token(color),
        fill: token(color),
        width: 0,
        paths: bars,
        points: { show: false },
        value: (_chart: UPlot, value: number | null) => (value === null ? '–' : formatCount(value)),
      })),
    ],
  };
}

function axisText(value: number): string {
  return Number.isInteger(value) ? formatCount(value) : '';
}
