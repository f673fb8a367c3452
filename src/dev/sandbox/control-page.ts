import { escapeHtml, renderPage } from '../../http/page.ts'
import { allRails, depositRails, providers } from '../../lib/rail-names.ts'
import { deposits } from '../../rails/definitions.ts'
import { providerLabel, providerLabels } from '../../rails/texts.ts'
import { effectSentences } from './rules.ts'

/** Loaded by the page, whose policy allows no script inside it. */
export const controlScript = `
const get = async (path) => (await fetch('/control/' + path)).json()
const put = (id, text) => { document.getElementById(id).textContent = text }
const row = (cells) => {
  const tr = document.createElement('tr')
  cells.forEach((cell) => {
    const td = document.createElement('td')
    td.append(cell instanceof Node ? cell : String(cell ?? ''))
    tr.append(td)
  })
  return tr
}
const none = (columns, text) => { const tr = row([text]); tr.firstChild.colSpan = columns; return tr }
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

const options = (values: readonly string[]): string => values.map((value) => `<option>${value}</option>`).join('')
const effectOptions = Object.entries(effectSentences)
  .map(([effect, sentence]) => `<option title="${escapeHtml(sentence)}">${effect}</option>`)
  .join('')

const waysBack = (home: string) => [
  { href: `${home}/`, text: 'Dashboard' },
  { href: `${home}/sandbox/mail`, text: 'Mailbox' },
  { href: `${home}/docs/guides/sandbox`, text: 'Guide to the sandbox' },
]

const content = `
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
<button class="primary">Pay</button>
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
<button class="primary">Add rule</button>
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
<script type="module" src="/control/page.js"></script>`

/** Shows the emulator's incoming and outgoing messages and its fault rules. `home`: URL of the service. */
export const controlPage = (home?: string): string =>
  renderPage({ title: 'Provider sandbox', paragraphs: [], links: home === undefined ? [] : waysBack(home) }, content)
