"""How the page looks. It begins with the style of the reports, and adds what forms and menus need."""

from mixbayes.report.style import STYLE as OF_REPORTS

_OWN = """
main, footer { max-width: 60rem; }
header.top { border-top: .4rem solid #0072B2; border-bottom: 1px solid #bbb; padding: .6rem 1rem; display: flex;
  flex-wrap: wrap; gap: .3rem 1.4rem; align-items: center; }
.node { font-weight: 650; margin: 0; }
header.top nav { flex: 1 1 auto; }
header.top ul { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem .95rem; margin: 0; padding: 0; }
header.top nav { font-size: .98rem; }
header.top a { display: inline-block; padding: .35rem 0; color: #00507d; }
header.top a[aria-current] { color: #1a1a1a; font-weight: 650; text-decoration: none;
  border-bottom: .2rem solid #0072B2; }
a { color: #00507d; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: .4rem; background: #fff; padding: .3rem .6rem; z-index: 2; }
main:focus { outline: none; }
a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, textarea:focus-visible,
.wide-table:focus-visible { outline: 3px solid #D55E00; outline-offset: 2px; }
h1 { margin-top: 1.4rem; }
.wide-table { position: relative; overflow-x: auto; overflow-wrap: normal; }
.wide-table table { min-width: 24rem; }
.wide-table td, .wide-table th { padding-right: .9rem; }
.notice { border: 2px solid #0072B2; border-left-width: .6rem; padding: .1rem 1rem .5rem; margin: 1.2rem 0; }
.notice h2 { margin-top: .6rem; }
.notice.answer { border-color: #0072B2; }
.notice.attention { border-color: #8a5a00; background: #fff8e8; }
.notice.trouble { border-color: #a33b00; background: #fdf0e9; }
.notice.good { border-color: #00694d; }
form p { margin: .4rem 0; }
section form { margin: .6rem 0; }
time { white-space: nowrap; }
.field { margin: 1rem 0; max-width: 34rem; }
.field label, legend { display: block; font-weight: 650; }
.hint { color: #444; font-size: .92rem; margin: .1rem 0 .3rem; }
.wrong { color: #a33b00; font-weight: 650; margin: .1rem 0 .3rem; }
.field.failed { border-left: .3rem solid #a33b00; padding-left: .8rem; }
fieldset { border: 1px solid #bbb; margin: 1rem 0; padding: .4rem 1rem .8rem; max-width: 34rem; }
.tick { display: flex; gap: .5rem; align-items: baseline; margin: .25rem 0; }
.tick label { font-weight: 400; }
input[type="text"], input[type="search"], select, textarea { font: inherit; padding: .35rem .5rem;
  border: 2px solid #595959; border-radius: .2rem; background: #fff; color: inherit; max-width: 100%; }
select { max-width: 100%; }
.with-unit { display: flex; gap: .5rem; align-items: baseline; }
button { font: inherit; font-weight: 650; padding: .45rem 1rem; border: 2px solid #00507d; border-radius: .2rem;
  background: #00507d; color: #fff; cursor: pointer; }
button.quiet { background: #fff; color: #00507d; padding: .25rem .7rem; font-weight: 400; }
.label { font-size: 1.5rem; font-weight: 650; margin: .6rem 0; }
.row { display: flex; flex-wrap: wrap; gap: .6rem 1.2rem; align-items: end; }
.aside { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media print { header.top, footer, .skip { display: none; } .notice { break-inside: avoid; } }
"""
STYLE = OF_REPORTS + _OWN
