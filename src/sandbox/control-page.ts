import { allRails, depositRails } from '../lib/rail-names.ts'
import { allDefinitions, deposits } from '../rails/definitions.ts'
import { effects } from './rules.ts'

/** One page without a build step: what the emulator received and sent, and the rules that make it misbehave. */
export const controlPage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Provider sandbox</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1c1c1c;background:#fff}
h1{font-size:1.4rem}h2{font-size:1.05rem;margin-top:2rem}table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:.25rem .6rem;border-bottom:1px solid #ddd;vertical-align:top}
form{display:flex;flex-wrap:wrap;gap:.6rem;align-items:end}label{display:grid;font-size:.85rem;gap:.2rem}
input,select,button{font:inherit;padding:.3rem .5rem}code{font-size:.85em;overflow-wrap:anywhere}
@media (prefers-color-scheme:dark){body{background:#161616;color:#eee}td,th{border-color:#333}}
</style>
<h1>Provider sandbox</h1>
<p>${allDefinitions.map(({ label }) => label).join(' and ')}, simulated: no money moves. Time here: <b id="now">…</b>. M-PESA working account: <b id="balance">…</b>.
Statements: ${allDefinitions.map(({ provider, label }) => `<a href="/control/statement.csv?provider=${provider}">${label}</a>`).join(', ')}.</p>
<h2>Pay in</h2>
<form id="pay">
<label>By<select name="method">${depositRails.map((rail) => `<option value="${rail}">${deposits[rail].label}</option>`).join('')}</select></label>
<label>Account number or reference<input name="reference" required maxlength="20" autocomplete="off"></label>
<label>Shillings<input name="amount" type="number" min="1" step="1" value="1000" required></label>
<label>Phone<input name="phone_number" value="254722000000" pattern="254[17][0-9]{8}"></label>
<label>Name<input name="name" value="JANE WANJIKU DOE" required></label>
<button>Pay</button><output id="paid" role="status"></output>
</form>
<h2>Rules</h2>
<form id="add">
<label>What happens<select name="effect">${effects.map((name) => `<option>${name}</option>`).join('')}</select></label>
<label>Rail<select name="rail"><option value="">any</option>${allRails.map((name) => `<option>${name}</option>`).join('')}</select></label>
<label>Phone, paybill, till or account<input name="party" placeholder="any"></label>
<label>How many times<input name="times" type="number" min="1" value="1" placeholder="until removed"></label>
<button>Add rule</button><output id="problem" role="alert"></output>
</form>
<table><thead><tr><th>Effect<th>Rail<th>Party<th>Times<th>Used<th></tr></thead><tbody id="rules"></tbody></table>
<h2>Journal</h2>
<table><thead><tr><th>Time<th>What<th>Detail</tr></thead><tbody id="journal"></tbody></table>
<script>
const get = async (path) => (await fetch('/control/' + path)).json()
const row = (cells) => { const tr = document.createElement('tr'); for (const cell of cells) { const td = document.createElement('td'); td.append(cell instanceof Node ? cell : String(cell ?? '')); tr.append(td) } return tr }
const removal = (id) => { const b = document.createElement('button'); b.textContent = 'Remove'; b.onclick = async () => { await fetch('/control/rules/' + id, { method: 'DELETE' }); draw() }; return b }
const draw = async () => {
  const [rules, journal, clock, balance] = await Promise.all(['rules', 'journal', 'clock', 'balance'].map(get))
  document.getElementById('now').textContent = clock.now
  document.getElementById('balance').textContent = (Number(balance.mpesa_working_minor) / 100).toLocaleString('en-KE', { style: 'currency', currency: 'KES' })
  document.getElementById('rules').replaceChildren(...rules.data.map((r) => row([r.effect, r.rail ?? 'any', r.party ?? 'any', r.times ?? 'until removed', r.used, removal(r.id)])))
  document.getElementById('journal').replaceChildren(...journal.data.slice(-100).reverse().map((e) => row([e.at, e.what, Object.entries(e.detail).filter(([, v]) => v !== null).map(([k, v]) => k + ': ' + v).join(', ')])))
}
document.getElementById('add').onsubmit = async (event) => {
  event.preventDefault()
  const form = new FormData(event.target), times = form.get('times')
  const body = { effect: form.get('effect'), times: times === '' ? null : Number(times), ...(form.get('rail') && { rail: form.get('rail') }), ...(form.get('party') && { party: form.get('party') }) }
  const answer = await fetch('/control/rules', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  document.getElementById('problem').textContent = answer.ok ? '' : (await answer.json()).message
  draw()
}
document.getElementById('pay').onsubmit = async (event) => {
  event.preventDefault()
  const { amount, ...body } = Object.fromEntries(new FormData(event.target))
  const answer = await fetch('/control/deposits', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ...body, amount_minor: amount + '00' }) })
  const result = await answer.json()
  document.getElementById('paid').textContent = answer.ok ? 'Paid: ' + result.receipt : result.message
  draw()
}
draw(); setInterval(draw, 2000)
</script></html>`
