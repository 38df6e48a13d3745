// The page's look. Few colours, each for one family of strategies; names stand beside every mark, so that nothing depends on
// telling colours apart. Light and dark follow the reader's system.

export const style = `
:root { color-scheme: light dark;
  --paper: #faf9f6; --card: #ffffff; --ink: #1d1c1a; --soft: #625d56; --rule: #e3dfd7; --grid: #efece6; --context: #d5d0c7;
  --none: #b3261e; --database: #0a6c8e; --redis: #a8580b; --batched: #6a35c9; --ok: #1a7f45; --ok-soft: #e3f3e8; --bad-soft: #fbe7e5; --warn-soft: #fdf1dd; --lock: #c9742a; --db: #2b86a8; --hold: #8a63d2; --rest: #b8b2a7; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #161513; --card: #1e1d1a; --ink: #eeebe4; --soft: #aaa499; --rule: #37342f; --grid: #2a2824; --context: #4a463f;
  --none: #ff8a80; --database: #56c5ea; --redis: #f2a654; --batched: #b79bff; --ok: #6fd39a; --ok-soft: #17301f; --bad-soft: #3c1d1a; --warn-soft: #382a13; --lock: #e39a58; --db: #5db9da; --hold: #a98cec; --rest: #6a655c; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main, header, footer { max-width: 1120px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 44px; }
h1 { font-size: clamp(1.7rem, 1.1rem + 2.6vw, 2.6rem); line-height: 1.12; letter-spacing: -0.02em; margin: 0 0 10px; max-width: 22ch; text-wrap: balance; }
h2 { font-size: 1.35rem; letter-spacing: -0.01em; margin: 0 0 4px; }
h3 { font-size: 1.02rem; margin: 0; } h4 { font-size: .86rem; margin: 0 0 2px; font-weight: 650; }
p { margin: 0 0 10px; max-width: 74ch; } section { margin: 52px 0; } section > p { color: var(--soft); }
.facts { color: var(--soft); font-size: .9rem; display: flex; flex-wrap: wrap; gap: 2px 18px; margin: 0; max-width: none; }
nav { margin: 22px 0 0; padding: 10px 0; border-block: 1px solid var(--rule); display: flex; gap: 4px 18px; flex-wrap: wrap; font-size: .9rem; }
a { color: var(--database); text-underline-offset: 2px; } nav a { color: var(--ink); text-decoration: none; } nav a:hover { text-decoration: underline; }
.short { margin: 26px 0 0; padding: 0; list-style: none; display: grid; gap: 8px; }
.short li { background: var(--card); border: 1px solid var(--rule); border-left: 3px solid var(--context); border-radius: 6px; padding: 11px 15px; font-size: 1.02rem; }
.short .good { border-left-color: var(--ok); } .short .bad { border-left-color: var(--none); background: var(--bad-soft); } .short .plain { border-left-color: var(--database); }
figure { margin: 22px 0 0; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 16px 18px 12px; }
figcaption p { color: var(--soft); font-size: .9rem; margin: 2px 0 12px; }
details { margin-top: 12px; border-top: 1px solid var(--rule); padding-top: 8px; font-size: .9rem; } summary { cursor: pointer; color: var(--soft); }
.scroll { overflow-x: auto; margin-top: 8px; } .scroll:focus-visible { outline: 2px solid var(--database); outline-offset: 2px; }
table { border-collapse: collapse; font-size: .88rem; width: 100%; font-variant-numeric: tabular-nums; }
.caption { color: var(--soft); font-size: .84rem; margin: 0; max-width: none; } tbody th, thead th:first-child { position: sticky; left: 0; background: var(--card); }
th, td { text-align: left; padding: 6px 14px 6px 0; border-bottom: 1px solid var(--rule); vertical-align: baseline; white-space: nowrap; }
thead th { color: var(--soft); font-weight: 550; font-size: .82rem; white-space: normal; vertical-align: bottom; line-height: 1.3; } tbody th { font-weight: 600; }
td.n, th.n { text-align: right; } td small { display: block; color: var(--soft); font-size: .76rem; line-height: 1.2; } .absent { color: var(--soft); } td.wide { white-space: normal; min-width: 220px; } tr:last-child > * { border-bottom: 0; }
.name { font-weight: 600; } .name.none { color: var(--none); } .name.database { color: var(--database); } .name.redis { color: var(--redis); } .name.batched { color: var(--batched); }
.chip { display: inline-block; border-radius: 999px; padding: 1px 10px; font-size: .8rem; font-weight: 600; border: 1px solid transparent; }
.chip.exact { color: var(--ok); background: var(--ok-soft); } .chip.oversold { color: var(--redis); background: var(--warn-soft); } .chip.red { color: var(--none); background: var(--bad-soft); border-color: var(--none); }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 268px), 1fr)); gap: 16px 20px; }
.panel svg { width: 100%; height: auto; display: block; overflow: visible; } .panel h4, .row .name { color: var(--family); }
.none { --family: var(--none); } .database { --family: var(--database); } .redis { --family: var(--redis); } .batched { --family: var(--batched); }
svg text { font: 10px system-ui, sans-serif; fill: var(--soft); } svg .note.strong { fill: var(--ink); font-weight: 600; } svg .note.main { fill: var(--family); font-weight: 600; }
.grid { stroke: var(--grid); stroke-width: 1; } .axis { stroke: var(--soft); stroke-width: .8; } .reference { stroke: var(--soft); stroke-width: .8; stroke-dasharray: 2 3; } .mark { stroke: var(--ink); stroke-width: 1; }
.line { fill: none; stroke-linejoin: round; stroke-linecap: round; } .line.main { stroke: var(--family, var(--ink)); stroke-width: 2; } .line.second { stroke: var(--ink); stroke-width: 1.3; stroke-dasharray: 5 3; } .line.third { stroke: var(--none); stroke-width: 1.4; stroke-dasharray: 1 3.5; } .line.context { stroke: var(--context); stroke-width: 1; }
.point { fill: var(--family); } .point.hollow { fill: var(--card); stroke: var(--family); stroke-width: 1.4; } .whisker { stroke: var(--family); stroke-width: 1.2; opacity: .75; } .dot { fill: var(--family); opacity: .7; }
.bars { display: grid; gap: 7px; } .row { display: grid; grid-template-columns: 92px minmax(60px, 1fr) minmax(118px, max-content); gap: 10px; align-items: center; font-size: .88rem; }
.row svg { width: 100%; height: 16px; display: block; } .row .bar { fill: var(--family); opacity: .85; } .row .whisker { stroke: var(--ink); stroke-width: 1.5; vector-effect: non-scaling-stroke; opacity: 1; } .row .muted { fill: var(--soft); } .row .track { fill: var(--rule); } .row .value { font-variant-numeric: tabular-nums; color: var(--ink); }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 0 22px; } .pair figure { min-width: 0; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: .84rem; color: var(--soft); margin: 0 0 10px; } .legend span { display: inline-flex; align-items: center; gap: 6px; } .sample { width: 24px; height: 8px; } .key { width: 12px; height: 12px; border-radius: 2px; display: inline-block; }
.part-lock { fill: var(--lock); background: var(--lock); } .part-db { fill: var(--db); background: var(--db); } .part-hold { fill: var(--hold); background: var(--hold); } .part-rest { fill: var(--rest); background: var(--rest); }
code { font: .9em ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; } dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 18px; font-size: .92rem; margin: 10px 0 0; } dt { color: var(--soft); } dd { margin: 0; min-width: 0; }
ul.rules { padding-left: 20px; max-width: 74ch; font-size: .94rem; } ul.rules li { margin: 3px 0; } footer { color: var(--soft); font-size: .88rem; padding-bottom: 60px; }
@media (max-width: 560px) { main, header, footer { padding-inline: 14px; } header { padding-top: 26px; } section { margin: 40px 0; } figure { padding: 14px 12px 10px; } .row { grid-template-columns: 76px minmax(40px, 1fr) max-content; gap: 8px; font-size: .8rem; } dl { grid-template-columns: 1fr; } dd { margin-bottom: 6px; } .panels { gap: 14px; } }
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
@media print { body { background: #fff; } figure { break-inside: avoid; } }
`;
