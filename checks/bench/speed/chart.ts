/** The cost of a page as a bar chart in SVG, without external fonts, scripts or styles. */

export interface Bar {
  readonly name: string;
  readonly us: number;
  readonly kind: 'floor' | 'ours' | 'peer';
  /** Printed after the figure. */
  readonly remark?: string | undefined;
}

const width = 860;
const barsFrom = 250;
const barsTo = 620;
const top = 88;
const rowHeight = 34;
const barHeight = 20;

/** The ends of the logarithmic axis: powers of ten with all values between them. */
function axisFor(values: readonly number[]): { readonly from: number; readonly to: number } {
  const from = 10 ** Math.floor(Math.log10(Math.min(...values)));
  const to = 10 ** Math.ceil(Math.log10(Math.max(...values)));
  return { from, to: Math.max(to, from * 10) };
}

/** The position of a value on the axis, from 0 to 1. */
function placeOf(value: number, { from, to }: ReturnType<typeof axisFor>): number {
  return Math.log10(value / from) / Math.log10(to / from);
}

/** Has its own background, so that it is legible in light and in dark mode. */
const style = `
    .ground { fill: #ffffff; }
    text { font: 14px system-ui, sans-serif; fill: #1f2328; }
    .title { font-size: 17px; font-weight: 600; }
    .figure { paint-order: stroke; stroke: #ffffff; stroke-width: 5px; }
    .small { font-size: 12px; fill: #59636e; }
    .grid { stroke: #d1d9e0; }
    .floor { fill: #818b98; }
    .ours { fill: #0969da; }
    .peer { fill: #bf5b04; }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #0d1117; }
      text { fill: #f0f6fc; }
      .figure { stroke: #0d1117; }
      .small { fill: #9198a1; }
      .grid { stroke: #3d444d; }
      .floor { fill: #9198a1; }
      .ours { fill: #4493f8; }
      .peer { fill: #db8c3a; }
    }`;

interface Words {
  readonly title: string;
  /** Under the title. */
  readonly remark: string;
  /** For screen readers. */
  readonly description: string;
}

export function chartOf({ title, remark, description }: Words, bars: readonly Bar[]): string {
  const axis = axisFor(bars.map(({ us }) => us));
  const x = (us: number) => Math.round(barsFrom + placeOf(us, axis) * (barsTo - barsFrom));
  const bottom = top + bars.length * rowHeight;
  const height = bottom + 46;
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img"`,
    '  aria-labelledby="title description">',
    `  <title id="title">${title}</title>`,
    `  <desc id="description">${description}</desc>`,
    `  <style>${style}\n  </style>`,
    `  <rect class="ground" width="${width}" height="${height}" rx="6"/>`,
    `  <text class="title" x="24" y="34">${title}</text>`,
    `  <text class="small" x="24" y="56">${remark}</text>`,
    ...gridOf(axis, x, bottom),
    ...bars.flatMap((bar, index) => rowOf(bar, x(bar.us), top + index * rowHeight)),
    '</svg>',
  ];
  return `${lines.join('\n')}\n`;
}

function gridOf(
  { from, to }: ReturnType<typeof axisFor>,
  x: (us: number) => number,
  bottom: number,
): string[] {
  const lines: string[] = [];
  for (let us = from; us <= to; us *= 10) {
    const label = `${us.toLocaleString('en')} µs`;
    lines.push(
      `  <line class="grid" x1="${x(us)}" y1="${top - 12}" x2="${x(us)}" y2="${bottom}"/>`,
      `  <text class="small" x="${x(us)}" y="${bottom + 22}" text-anchor="middle">${label}</text>`,
    );
  }
  return lines;
}

function rowOf({ name, us, kind, remark = '' }: Bar, end: number, y: number): string[] {
  const middle = y + barHeight / 2 + 5;
  const figure = `${Math.round(us).toLocaleString('en')} µs ${remark}`.trimEnd();
  return [
    `  <text x="${barsFrom - 12}" y="${middle}" text-anchor="end">${name}</text>`,
    `  <rect class="${kind}" x="${barsFrom}" y="${y}" width="${end - barsFrom}" height="${barHeight}"/>`,
    `  <text class="figure" x="${end + 8}" y="${middle}">${figure}</text>`,
  ];
}
