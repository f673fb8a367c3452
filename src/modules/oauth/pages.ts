import { sha256 } from '../../auth/secrets.ts'

/** Error pages before the dashboard's pages are reached: no script, nothing loaded, no links. */
const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:34rem;margin:3rem auto;padding:0 1rem}
h1{font-size:1.4rem}fieldset{border:1px solid #8888;border-radius:.5rem;margin:1rem 0}label{display:block;margin:.3rem 0}
input[type=text],select{font:inherit;padding:.2rem .4rem;max-width:100%}button{font:inherit;padding:.5rem 1.2rem;margin-right:.5rem}
.warn{border-left:.3rem solid #c60;padding:.2rem .8rem}code{font-size:1.1em;letter-spacing:.05em}small{opacity:.75}`

const styleHash = sha256(style).toString('base64')

export const pageHeaders = () => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'`,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
})

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const html = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${html(title)}</title><style>${style}</style></head><body><main><h1>${html(title)}</h1>${body}</main></body></html>`

export const messagePage = (title: string, message: string): string => page(title, `<p>${html(message)}</p>`)
