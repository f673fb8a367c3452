import type { FastifyReply, FastifyRequest } from 'fastify'
import { sha256 } from '../auth/secrets.ts'
import type { Refusal } from '../lib/errors.ts'
import { prefers } from './accept.ts'

/** `foreign`: the link leads to another site, to which no referrer is sent. */
type PageLink = { href: string; text: string; primary?: boolean; foreign?: boolean }
export type Page = { title: string; paragraphs: readonly string[]; links?: readonly PageLink[]; note?: string }

/** Colours copied from the dashboard's tokens.css. */
export const colours =
  '--bg: light-dark(#f7f7f4, #0e0f12); --surface: light-dark(#fff, #16181c); --line: light-dark(#e5e5df, #272b32); --field: light-dark(#8a8c94, #6f7582); --ink: light-dark(#17181c, #eceef2); --ink-2: light-dark(#4b4e57, #b0b5c0); --accent: light-dark(#3b4fd8, #5263e6); --focus: light-dark(#3546c4, #a3aeff);'

/** Styles copied from the dashboard, because these pages load none. */
const style = `
:root { color-scheme: light dark; font: 15px/1.5 -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; ${colours} }
body { display: grid; place-items: start center; margin: 0; padding: clamp(2rem, 10vh, 6rem) 1rem 3rem; background: var(--bg); color: var(--ink); }
main { box-sizing: border-box; width: 100%; max-width: 30rem; padding: 1.5rem; border: 1px solid var(--line); border-radius: 12px; background: var(--surface); }
h1 { margin: 0 0 .75rem; font-size: 1.4rem; line-height: 1.3; letter-spacing: -.018em; }
h2 { margin: 1.25rem 0 .25rem; font-size: 1.1rem; }
p { margin: 0 0 1rem; color: var(--ink-2); overflow-wrap: anywhere; }
nav { display: grid; gap: .6rem; margin: 1.25rem 0; }
nav a, .primary, button { display: block; padding: .65rem 1rem; border: 1px solid var(--field); border-radius: 8px; background: var(--surface); color: inherit; font: inherit; font-weight: 500; text-align: center; text-decoration: none; cursor: pointer; }
.primary { border-color: var(--accent); background: var(--accent); color: #fff; }
a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, .scroll:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
label { display: block; margin: 0 0 .6rem; }
input:not([type=checkbox]), select, textarea { box-sizing: border-box; width: 100%; padding: .5rem .7rem; border: 1px solid var(--field); border-radius: 8px; background: var(--surface); color: inherit; font: inherit; }
small { color: var(--ink-2); }
main:has(table) { min-width: 0; max-width: 50rem; }
table { border-collapse: collapse; }
.scroll { overflow-x: auto; }
th, td { padding: .45rem .75rem .45rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
`

/** Allows only this style, by its hash. */
const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${sha256(style).toString('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')

const linkHtml = ({ href, text, primary, foreign }: PageLink): string =>
  `<a${primary ? ' class="primary"' : ''}${foreign ? ' rel="noreferrer"' : ''} href="${escapeHtml(href)}">${escapeHtml(text)}</a>`

/** `extra`: trusted HTML, inserted after the links. */
export const renderPage = ({ title, paragraphs, links = [], note }: Page, extra = ''): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`).join('\n')}
${links.length > 0 ? `<nav>\n${links.map(linkHtml).join('\n')}\n</nav>` : ''}
${extra}
${note === undefined ? '' : `<p><small>${escapeHtml(note)}</small></p>`}
</main>
</body>
</html>
`

/** For a page that works with the reader's file: allows our own scripts and requests to this service. */
const scriptedPolicy = `${contentSecurityPolicy}; script-src 'self'; connect-src 'self'`

export const htmlHeaders = (scripted: boolean) => ({
  'content-security-policy': scripted ? scriptedPolicy : contentSecurityPolicy,
  'cache-control': 'no-store',
  'x-frame-options': 'DENY',
})

export const sendHtml = (reply: FastifyReply, status: number, html: string, { scripted = false } = {}): FastifyReply =>
  reply.code(status).headers(htmlHeaders(scripted)).type('text/html; charset=utf-8').send(html)

export const wantsPage = (request: FastifyRequest): boolean => prefers(request, 'text/html', 'application/json')
/** A client that prefers neither format can also read a page, so it does not count. */
export const wantsJson = (request: FastifyRequest): boolean =>
  !wantsPage(request) && prefers(request, 'application/json', 'text/html')

/** Paths for programs, which get JSON even in a browser. */
const forPrograms = /^\/(v\d+|api|mcp|\.well-known|assets)(\/|\?|$)|\.(json|js|css|tgz|txt|mjs)(\?|$)/i

export const opensPage = (request: FastifyRequest): boolean =>
  /^(GET|HEAD)$/.test(request.method) &&
  request.headers.authorization === undefined &&
  wantsPage(request) &&
  !forPrograms.test(request.url)

const waysOut: readonly PageLink[] = [
  { href: '/', text: 'Go to the overview', primary: true },
  { href: '/docs/guides', text: 'Guides' },
  { href: '/docs', text: 'API reference' },
]

/** Shows the error code and the request id, which people can send to support. */
export const sendRefusalPage = (
  reply: FastifyReply,
  refusal: Refusal,
  title: string,
  links: readonly PageLink[] = waysOut,
): FastifyReply => {
  const page = { title, paragraphs: [refusal.message], links, note: `${refusal.code} · ${reply.request.id}` }
  return sendHtml(reply.headers(refusal.headers ?? {}), refusal.status, renderPage(page))
}
