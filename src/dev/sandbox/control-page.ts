import { sha256 } from '../../auth/secrets.ts'
import { colours, escapeHtml } from '../../http/page.ts'
import { allRails, depositRails, providers } from '../../lib/rail-names.ts'
import { deposits } from '../../rails/definitions.ts'
import { providerLabel, providerLabels } from '../../rails/texts.ts'
import { effectSentences } from './rules.ts'

/** The dashboard's styles, for a page without a build step. */
const style = `
:root { color-scheme: light dark; font: 15px/1.5 -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; ${colours} }
body { margin: 0 auto; padding: 1.25rem 1rem 3rem; max-width: 70rem; background: var(--bg); color: var(--ink); }
header { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: baseline; justify-content: space-between; margin-bottom: 1rem; }
header nav { display: flex; flex-wrap: wrap; gap: .5rem 1rem; }
h1 { margin: 0; font-size: 1.4rem; line-height: 1.3; letter-spacing: -.018em; }
h2 { margin: 0 0 .75rem; font-size: 1.05rem; }
p { margin: 0 0 1rem; color: var(--ink-2); }
a { color: var(--focus); }
section { margin-top: 1rem; padding: 1.1rem; border: 1px solid var(--line); border-radius: 12px; background: var(--surface); }
form { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 12rem), 1fr)); gap: .75rem; align-items: end; margin-bottom: .5rem; }
label { display: grid; gap: .25rem; color: var(--ink-2); font-size: .87rem; }
input, select, button { box-sizing: border-box; min-width: 0; width: 100%; min-height: 2.6rem; padding: .4rem .65rem; border: 1px solid var(--field); border-radius: 8px; background: var(--surface); color: var(--ink); font: inherit; }
button { font-weight: 500; cursor: pointer; }
form button { border-color: var(--accent); background: var(--accent); color: #fff; }
:is(a, button, input, select, .scroll):focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
output { overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .45rem .75rem .45rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--ink-2); font-size: .87rem; font-weight: 500; }
td { overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
td button { width: auto; }
td.fixed { white-space: nowrap; }
.none { color: var(--ink-2); }
`

const script = `
const get = async (path) => (await fetch('/control/' + path)).json()
const put = (id, text) => { document.getElementById(id).textContent = text }
const row = (cells) => {
  const tr = document.createElement('tr')
  cells.forEach((cell, index) => {
    const td = document.createElement('td')
    td.append(cell instanceof Node ? cell : String(cell ?? ''))
    if (index === 0) td.className = 'fixed'
    tr.append(td)
  })
  return tr
}
const none = (columns, text) => { const tr = row([text]); tr.firstChild.colSpan = columns; tr.firstChild.className = 'none'; return tr }
const fill = (id, columns, rows, empty) => document.getElementById(id).replaceChildren(...(rows.length ? rows : [none(columns, empty)]))
const removal = (rule) => {
  const button = document.createElement('button')
  button.textContent = 'Remove'
  button.setAttribute('aria-label', 'Remove the rule ' + rule.effect)
  button.onclick = async () => { await fetch('/control/rules/' + rule.id, { method: 'DELETE' }); draw() }
  return button
}
const time = (at) => new Date(at).toLocaleString('en-KE', { dateStyle: 'medium', timeStyle: 'medium' })
const post = (path, body) => fetch('/control/' + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
let shown = ''
const draw = async () => {
  const [rules, journal, clock, balance] = await Promise.all(['rules', 'journal', 'clock', 'balance'].map(get))
  put('now', time(clock.now))
  for (const [provider, minor] of Object.entries(balance.balance_minor))
    put('balance-' + provider, (Number(minor) / 100).toLocaleString('en-KE', { style: 'currency', currency: 'KES' }))
  // Redraws only after a change, to keep the focus and the selection.
  const next = JSON.stringify([rules, journal])
  if (next === shown) return
  shown = next
  fill('rules', 6, rules.data.map((rule) => row([rule.effect, rule.rail ?? 'any', rule.party ?? 'any', rule.times ?? 'until removed', rule.used, removal(rule)])), 'No rules. The providers behave normally.')
  fill('journal', 3, journal.data.slice(-100).reverse().map(({ at, what, detail }) => row([time(at), what, Object.entries(detail).filter(([, value]) => value !== null).map(([name, value]) => name + ': ' + value).join(', ')])), 'Nothing has happened yet.')
}
document.getElementById('add').onsubmit = async (event) => {
  event.preventDefault()
  const form = new FormData(event.target), times = form.get('times')
  const answer = await post('rules', { effect: form.get('effect'), times: times === '' ? null : Number(times), ...(form.get('rail') && { rail: form.get('rail') }), ...(form.get('party') && { party: form.get('party') }) })
  put('problem', answer.ok ? '' : (await answer.json()).message)
  draw()
}
document.getElementById('pay').onsubmit = async (event) => {
  event.preventDefault()
  const { amount, ...body } = Object.fromEntries(new FormData(event.target))
  const answer = await post('deposits', { ...body, amount_minor: amount + '00' })
  const result = await answer.json()
  put('paid', answer.ok ? 'Paid: ' + result.receipt : result.message)
  draw()
}
draw()
setInterval(draw, 2000)
`

const hash = (text: string): string => `'sha256-${sha256(text).toString('base64')}'`

/** Allows our own script and style, each by its hash, and requests to the emulator. */
export const controlPolicy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

const options = (values: readonly string[]): string => values.map((value) => `<option>${value}</option>`).join('')
const effectOptions = Object.entries(effectSentences)
  .map(([effect, sentence]) => `<option title="${escapeHtml(sentence)}">${effect}</option>`)
  .join('')

const waysBack = (home: string): string => `
<nav aria-label="Service"><a href="${escapeHtml(home)}/">Dashboard</a><a href="${escapeHtml(home)}/sandbox/mail">Mailbox</a><a href="${escapeHtml(home)}/docs/guides/sandbox">Guide to the sandbox</a></nav>`

/** Shows the emulator's incoming and outgoing messages and its fault rules. `home`: URL of the service. */
export const controlPage = (home?: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Provider sandbox</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>Provider sandbox</h1>${home === undefined ? '' : waysBack(home)}
</header>
<main>
<p>${providerLabels.join(' and ')}, simulated: no money moves. Time here: <strong id="now">…</strong>. ${providers.map((provider) => `${providerLabel(provider)}'s account: <strong id="balance-${provider}">…</strong>.`).join(' ')}
Statements: ${providers.map((provider) => `<a href="/control/statement.csv?provider=${provider}">${providerLabel(provider)}</a>`).join(', ')}.</p>
<section aria-labelledby="pay-title">
<h2 id="pay-title">Pay in</h2>
<form id="pay">
<label>By<select name="method">${depositRails.map((rail) => `<option value="${rail}">${deposits[rail].label}</option>`).join('')}</select></label>
<label>Account number or reference<input name="reference" required maxlength="20" autocomplete="off"></label>
<label>Shillings<input name="amount" type="number" min="1" step="1" value="1000" required></label>
<label>Phone<input name="phone_number" value="254722000000" pattern="254[17][0-9]{8}"></label>
<label>Name<input name="name" value="JANE WANJIKU DOE" required></label>
<button>Pay</button>
</form>
<output id="paid" role="status"></output>
</section>
<section aria-labelledby="rules-title">
<h2 id="rules-title">Rules</h2>
<form id="add">
<label>What happens<select name="effect">${effectOptions}</select></label>
<label>Rail<select name="rail"><option value="">any</option>${options(allRails)}</select></label>
<label>Phone, paybill, till or account<input name="party" placeholder="any"></label>
<label>How many times<input name="times" type="number" min="1" value="1" placeholder="until removed"></label>
<button>Add rule</button>
</form>
<output id="problem" role="alert"></output>
<div class="scroll" tabindex="0" role="region" aria-label="Rules in force">
<table><thead><tr><th scope="col">Effect</th><th scope="col">Rail</th><th scope="col">Party</th><th scope="col">Times</th><th scope="col">Used</th><td></td></tr></thead><tbody id="rules"></tbody></table>
</div>
</section>
<section aria-labelledby="journal-title">
<h2 id="journal-title">Journal</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Entries of the journal">
<table><thead><tr><th scope="col">Time</th><th scope="col">What</th><th scope="col">Detail</th></tr></thead><tbody id="journal"></tbody></table>
</div>
</section>
</main>
<script>${script}</script>
</body>
</html>
`
