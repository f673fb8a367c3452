import { sha256 } from '../../auth/secrets.ts'
import { type LimitField, limitFields, writeAmount } from './form.ts'
import type { Authorization } from './schema.ts'

/** The pages that serve until the dashboard has its own: forms, no script, nothing loaded from anywhere. */
const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:34rem;margin:3rem auto;padding:0 1rem}
h1{font-size:1.4rem}fieldset{border:1px solid #8888;border-radius:.5rem;margin:1rem 0}label{display:block;margin:.3rem 0}
input[type=text],select{font:inherit;padding:.2rem .4rem;max-width:100%}button{font:inherit;padding:.5rem 1.2rem;margin-right:.5rem}
.warn{border-left:.3rem solid #c60;padding:.2rem .8rem}code{font-size:1.1em;letter-spacing:.05em}small{opacity:.75}`

const styleHash = sha256(style).toString('base64')

/** `formTarget`: where a form's redirect may lead; browsers hold form-action against it as well. */
export const pageHeaders = (formTarget?: string) => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'${formTarget ? ` ${formTarget}` : ''}`,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
})

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const html = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${html(title)}</title><style>${style}</style></head><body><main><h1>${html(title)}</h1>${body}</main></body></html>`

export const messagePage = (title: string, message: string): string => page(title, `<p>${html(message)}</p>`)

const meanings: Readonly<Record<string, string>> = {
  'account.read': 'See your account, its balance and its history',
  'key.manage': 'Make API keys that can do no more than itself',
  'workspace.read': 'See the workspace and its members',
  'beneficiary.read': 'See whom the workspace pays',
  'beneficiary.manage': 'Add and archive beneficiaries',
  'policy.read': 'See spending policies',
  'policy.create': 'Add spending policies, which can only make spending stricter',
  'payment.read': 'See payments',
  'payment.create': 'Make payments, within the limits below',
  'approval.read': 'See approvals',
  'mandate.read': 'See mandates',
  'topup.read': 'See top-ups',
  'topup.create': 'Start top-ups',
}

const hidden = (name: string, value: string) => `<input type="hidden" name="${name}" value="${html(value)}">`

const limitInput = (question: Authorization, currency: string, name: LimitField): string => {
  const [, wire, label] = limitFields[name]
  const asked = question.spending_controls[wire]
  const note =
    asked === undefined
      ? 'the application asked for no such limit; empty = none'
      : `the application asked for ${writeAmount(asked)}; you can lower it`
  return `<label>${label} <input type="text" inputmode="decimal" name="${name}" value="${asked === undefined ? '' : writeAmount(asked)}"> ${html(currency)}<br><small>${html(note)}</small></label>`
}

const lists = ({ spending_controls: { payment_types: types, beneficiary_ids: ids } }: Authorization): string =>
  `${types ? `<p>Only payments of the types: ${html(types.join(', '))}</p>` : ''}${ids ? `<p>Only to these beneficiaries: ${html(ids.join(', '))}</p>` : ''}`

const who = (
  { client, redirect_host: host, redirect_is_local: local, user_code: code, resources }: Authorization,
  own: string,
): string => {
  const others = resources.filter((resource) => resource !== own)
  return [
    client.verified_host === null
      ? `<p class="warn">Nobody vouches that this application is who it says it is.</p>`
      : `<p>Vouched for by <strong>${html(client.verified_host)}</strong>.</p>`,
    host === null ? '' : `<p>You will be sent on to <strong>${html(host)}</strong>.</p>`,
    local
      ? `<p class="warn">That is a program on your own computer (localhost). Go on only if you have just started it yourself.</p>`
      : '',
    code === null
      ? ''
      : `<p class="warn">Your device shows the code <code>${html(code)}</code>. Go on only if you see it there and have started this yourself: nobody from support will ever ask you to.</p>`,
    others.length === 0 ? '' : `<p>Its tokens are for: ${html(others.join(', '))}</p>`,
  ].join('')
}

export type QuestionPage = {
  question: Authorization
  action: string
  csrf: string
  currency: string
  own: string
  workspaceId: string
}

const workspaceChoice = ({ question, workspaceId }: QuestionPage): string => {
  const options = question.workspaces.map(
    ({ id, name }) => `<option value="${html(id)}"${id === workspaceId ? ' selected' : ''}>${html(name)}</option>`,
  )
  return `<label>Workspace <select name="workspace_id">${options.join('')}</select></label>`
}

/** What is asked, by whom, where the answer goes, and the limits that will hold. */
export const questionPage = (context: QuestionPage): string => {
  const { question, action, csrf, currency, own } = context
  const scopes = question.scopes.map(
    (scope) =>
      `<label><input type="checkbox" name="permissions" value="${scope}" checked> ${html(meanings[scope] ?? scope)} <small>${scope}</small></label>`,
  )
  const limits = (Object.keys(limitFields) as LimitField[]).map((name) => limitInput(question, currency, name))
  return page(
    `Let “${question.client.name}” in?`,
    `${who(question, own)}<form method="post" action="${action}">${hidden('csrf', csrf)}${question.user_code === null ? hidden('authorization', question.id) : hidden('user_code', question.user_code)}
<fieldset><legend>It could</legend>${scopes.join('')}${workspaceChoice(context)}</fieldset>
<fieldset><legend>It could spend</legend>${limits.join('')}${lists(question)}</fieldset>
<button name="decision" value="approve">Let it in</button><button name="decision" value="deny">Refuse</button></form>`,
  )
}

export const devicePage = (problem?: string): string =>
  page(
    'Connect a device',
    `${problem === undefined ? '' : `<p class="warn">${html(problem)}</p>`}<form method="get" action="/device"><label>The code that your device shows <input type="text" name="user_code" autocomplete="off" autocapitalize="characters" required></label><button>Go on</button></form>`,
  )

export const signInPage = (returnTo: string): string => {
  const to = encodeURIComponent(returnTo)
  const ways = ['google', 'github'].map(
    (provider) =>
      `<li><a href="/v1/auth/${provider}/start?return_to=${html(to)}">Sign in with ${provider === 'google' ? 'Google' : 'GitHub'}</a></li>`,
  )
  return page(
    'Sign in first',
    `<p>You have to be signed in to decide this.</p><ul>${ways.join('')}</ul><p>With a wallet: sign in in another tab of this browser, then <a href="${html(returnTo)}">go on</a>.</p>`,
  )
}
