import type { FastifyReply, FastifyRequest } from 'fastify'
import { sha256 } from '../auth/secrets.ts'
import type { Refusal } from '../lib/errors.ts'

export type PageLink = { href: string; text: string; primary?: boolean }
export type Page = { title: string; paragraphs: readonly string[]; links?: readonly PageLink[]; note?: string }

const style = `
:root { color-scheme: light dark; font: 17px/1.5 system-ui, sans-serif; }
body { display: grid; min-height: 90vh; place-items: center; margin: 2rem 1.25rem; }
main { max-width: 30rem; }
h1 { font-size: 1.4rem; line-height: 1.25; margin: 0 0 .75rem; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
nav { display: grid; gap: .6rem; margin: 1.5rem 0; }
nav a, button { display: block; padding: .65rem 1rem; border: 1px solid #8888; border-radius: .6rem; color: inherit; text-align: center; text-decoration: none; font: inherit; background: none; cursor: pointer; }
nav a.primary { background: #1f5fd0; border-color: #1f5fd0; color: #fff; font-weight: 600; }
nav a:focus-visible, button:focus-visible, input:focus-visible { outline: 3px solid #5b9bff; outline-offset: 2px; }
label { display: block; margin: 0 0 .6rem; }
input:not([type=checkbox]) { box-sizing: border-box; width: 100%; padding: .5rem; font: inherit; }
small { opacity: .75; }
`

/** No script, no foreign source, no frame; the one style is named by its hash. */
const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${sha256(style).toString('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')

const linkHtml = ({ href, text, primary }: PageLink): string =>
  `<a${primary ? ' class="primary"' : ''} href="${escapeHtml(href)}">${escapeHtml(text)}</a>`

/** `extra` is trusted HTML, after the links. */
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

export const sendHtml = (reply: FastifyReply, status: number, html: string): FastifyReply =>
  reply
    .code(status)
    .headers({ 'content-security-policy': contentSecurityPolicy, 'cache-control': 'no-store', 'x-frame-options': 'DENY' })
    .type('text/html; charset=utf-8')
    .send(html)

/** Whether a person looks at the answer, and not a program. */
export const wantsPage = (request: FastifyRequest): boolean => request.headers.accept?.includes('text/html') ?? false

/** A refusal, told to a person. The code and the request's id are there for whoever they ask. */
export const sendRefusalPage = (
  reply: FastifyReply,
  refusal: Refusal,
  title: string,
  links: readonly PageLink[] = [],
): FastifyReply =>
  sendHtml(
    reply.headers(refusal.headers ?? {}),
    refusal.status,
    renderPage({ title, paragraphs: [refusal.message], links, note: `${refusal.code} · ${reply.request.id}` }),
  )
