"""How a page looks: on a phone, on a desk, and on paper."""

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: #1a1a1a; overflow-wrap: anywhere;
  font: 1.0625rem/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif; }
main, footer { max-width: 46rem; margin: 0 auto; padding: 0 1rem; }
header { border-top: .4rem solid #0072B2; padding-top: 1.6rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .8rem; text-wrap: balance; overflow-wrap: break-word; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 2.8rem 0 .5rem; overflow-wrap: break-word; }
h3 { font-size: 1.08rem; line-height: 1.3; margin: 1.9rem 0 .4rem; overflow-wrap: break-word; }
h4 { font-size: 1rem; line-height: 1.3; margin: 1.5rem 0 .3rem; overflow-wrap: break-word; }
details { margin: .8rem 0; }
summary { cursor: pointer; font-weight: 650; font-size: .95rem; }
summary:focus-visible { outline: 3px solid #0072B2; outline-offset: 2px; }
details caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
p { margin: .6rem 0; overflow-wrap: break-word; }
.lead { font-size: 1.15rem; }
.keys { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .7rem; margin: 1.4rem 0; }
.keys div { border: 1px solid #bbb; border-left: .3rem solid #0072B2; padding: .5rem .7rem; }
.keys dd { margin: 0; font-size: 1.45rem; font-weight: 650; line-height: 1.2; }
.keys dt { font-size: .9rem; line-height: 1.3; color: #444; }
.keys div { display: flex; flex-direction: column-reverse; justify-content: flex-end; }
.run { font-size: .92rem; margin: 1.2rem 0; padding: .7rem 0; border: solid #ccc; border-width: 1px 0; }
.run div { display: grid; grid-template-columns: 6.5rem 1fr; gap: .6rem; padding: .12rem 0; }
.run dt { color: #444; }
.run dd { margin: 0; }
code { font: .9em ui-monospace, "Liberation Mono", "DejaVu Sans Mono", monospace; }
figure { margin: 1rem 0 .4rem; }
figure svg { display: block; width: 100%; height: auto; font-family: inherit; }
figure svg.wide { display: none; }
figcaption { font-size: .92rem; color: #444; margin-top: .5rem; }
.halo { paint-order: stroke; stroke: #fff; stroke-width: 3px; stroke-linejoin: round; }
.patterns { position: absolute; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; line-height: 1.35; margin: 1.1rem 0; }
caption { text-align: left; font-weight: 650; padding-bottom: .35rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .5rem .3rem 0; border-bottom: 1px solid #d4d4d4;
  font-weight: 400; }
.words { table-layout: fixed; }
.words thead th:first-child { width: 30%; }
.words thead th:nth-child(3) { width: 44%; }
th[scope="row"] { min-width: 5.8rem; }
code span { display: inline-block; max-width: 100%; }
data, table span { white-space: nowrap; }
thead th { border-bottom: 2px solid #1a1a1a; font-weight: 650; min-width: 4rem; }
.n { text-align: right; font-variant-numeric: tabular-nums; padding-right: 0; padding-left: .6rem; }
td.n { overflow-wrap: normal; }
tr.chosen { font-weight: 650; background: #FBE9DC; }
tr.chosen th { font-weight: 650; }
.absent { color: #555; }
.bound { border: 2px solid #D55E00; padding: .2rem 1rem .6rem; margin-top: 2.8rem; }
.bound h2 { margin-top: .6rem; }
footer { color: #444; font-size: .88rem; padding-top: 1.6rem; padding-bottom: 2.4rem; }
@media (min-width: 37.5rem), print {
  figure svg.narrow { display: none; }
  figure svg.wide { display: block; }
}
@media (max-width: 30rem) {
  h1 { font-size: 1.4rem; }
  table { font-size: .86rem; }
  details thead th { min-width: 2.6rem; }
  details .n { padding-left: .35rem; }
  details th[scope="row"] { min-width: 4.6rem; }
  .run div { grid-template-columns: 1fr; gap: 0; padding: .25rem 0; }
}
@media print {
  @page { size: A4; margin: 17mm 18mm; }
  :root { font-size: 9.5pt; }
  body { line-height: 1.4; }
  main, footer { max-width: none; padding: 0; }
  details::details-content { content-visibility: visible; block-size: auto; }
  h1 { font-size: 18pt; }
  h2 { font-size: 13pt; margin-top: 7mm; break-after: avoid; }
  h3 { font-size: 11pt; margin-top: 5mm; break-after: avoid; }
  h4 { break-after: avoid; }
  table { margin: 3mm 0; break-inside: avoid; }
  section > p:has(+ figure) { break-after: avoid; }
  p { break-inside: avoid; }
  figure, tr, .keys, .run, .bound { break-inside: avoid; }
  h2 + p, caption { break-after: avoid; }
  thead { display: table-header-group; }
  tr.chosen, .keys div { print-color-adjust: exact; }
}
"""
