import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Marked } from 'marked'
import { sha256 } from '../../src/auth/secrets.ts'
import { colours, escapeHtml } from '../../src/http/page.ts'
import { providerLabels } from '../../src/rails/texts.ts'
import { type Rendered, textOf, writtenUrl } from './rendered.ts'

const folder = fileURLToPath(new URL('../../docs/guides', import.meta.url))
const path = '/docs/guides'

/** In reading order. */
export const guideNames = [
  'quickstart',
  'agents',
  'approvals',
  'passkeys',
  'workspaces',
  'funding',
  'salaries',
  'reconcile',
  'oauth',
  'mcp',
  'events',
  'errors',
  'idempotency',
  'permissions',
  'mandates',
  'receipts',
  'key-rotation',
  'leaked-key',
  'sandbox',
  'testing',
  'going-live',
  'changelog',
] as const

type Guide = { href: string; title: string; summary: string; text: string }

const readGuide = async (name: string): Promise<Guide> => {
  const text = await readFile(join(folder, `${name}.md`), 'utf8')
  const [title = '', summary = ''] = text.split('\n\n')
  return { href: `${path}/${name}`, title: title.replace(/^# /, ''), summary: summary.replaceAll('\n', ' '), text }
}

const style = `
:root { color-scheme: light dark; font: 17px/1.6 system-ui, sans-serif; ${colours} }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1.25rem 4rem; display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.5rem; background: var(--bg); color: var(--ink); }
header { display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; }
@media (min-width: 60rem) {
  body { grid-template-columns: 13rem minmax(0, 46rem); column-gap: 2.5rem; }
  header { grid-column: 1 / -1; }
  .to-list { display: none; }
  main, .guides { grid-row: 2; }
  main { grid-column: 2; }
  .guides { grid-column: 1; position: sticky; top: 1.5rem; align-self: start; }
}
ul.plain { list-style: none; margin: 0; padding: 0; }
.guides a { display: block; padding: .2rem 0; color: var(--ink-2); text-decoration: none; }
.guides a:hover, .guides a[aria-current] { color: var(--ink); text-decoration: underline; }
.guides a[aria-current] { font-weight: 600; }
header a { color: var(--ink); white-space: nowrap; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 .75rem; }
h3 { font-size: 1.1rem; margin: 1.75rem 0 .5rem; }
p, ul, ol, table, pre { margin: 0 0 1rem; }
main a { color: var(--focus); }
a:focus-visible, pre:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
code, pre { font: .88em/1.5 ui-monospace, monospace; }
:not(pre) > code { background: var(--surface); border: 1px solid var(--line); border-radius: .3rem; padding: .1rem .3rem; overflow-wrap: anywhere; }
pre { background: var(--surface); border: 1px solid var(--line); border-radius: .6rem; padding: .9rem 1rem; overflow-x: auto; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid var(--line); padding: .4rem .75rem .4rem 0; text-align: left; vertical-align: top; }
`

/** Allows no scripts, and only this style, by its hash. */
const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${sha256(style).toString('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')

/** Removes `.md` from links between guides, which the files need in the repository. */
const marked = new Marked({
  walkTokens: (token) => {
    if (token.type === 'link') token.href = token.href.replace(/^([\w-]+)\.md(?=$|#)/, '$1')
  },
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
    // Makes code blocks focusable, so that they can be scrolled by keyboard.
    code({ text }) {
      return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`
    },
  },
})

const item = (link: Guide, current: string | undefined): string =>
  `<li><a href="${link.href}"${link.href === current ? ' aria-current="page"' : ''}>${escapeHtml(link.title)}</a></li>`

const pageOf = (title: string, markdown: string, links: readonly Guide[], current?: string): NonNullable<Rendered['page']> => ({
  headers: { 'content-security-policy': contentSecurityPolicy, 'cache-control': 'public, max-age=300' },
  body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Payments service</title>
<style>${style}</style>
</head>
<body>
<header><a href="/">Dashboard</a><a href="/docs">API reference</a><a class="to-list" href="#guides">All guides</a></header>
<main>
${marked.parse(markdown)}</main>
<nav class="guides" id="guides" aria-label="Guides"><ul class="plain">
${links.map((link) => item(link, current)).join('\n')}
<li><a href="/docs/errors">Error codes</a></li>
</ul></nav>
</body>
</html>
`,
})

/** An index for programs: https://llmstxt.org. */
const indexOf = (guides: readonly Guide[]): string =>
  [
    '# Payments service',
    `> Payments for people and software agents over ${providerLabels.join(' and ')}: accounts, API keys with spending limits, OAuth for agents, policies, approvals by passkey and wallet signature, mandates, and an event stream.`,
    '## Guides',
    guides.map(({ href, title, summary }) => `- [${title}](${writtenUrl}${href}.md): ${summary}`).join('\n'),
    '## Reference',
    [
      `- [API document](${writtenUrl}/openapi.json): every operation, OpenAPI 3.1`,
      `- [Error codes](${writtenUrl}/docs/errors): every code and what to do`,
      `- [Paying twice](${writtenUrl}${path}/idempotency.md): one Idempotency-Key for each intended payment. A single payment that looks like one of the last hour is made and has a warning; with on_duplicate: confirm it is 409 until duplicate_of names the earlier one. A list that looks like payments of the last 72 hours is 409 until duplicates_intended is true`,
      `- [Skill for agents](${writtenUrl}/skill.md): how an agent pays safely here, as a skill file`,
      `- [MCP server](${writtenUrl}/mcp): tools for agents, over streamable HTTP`,
      `- [All guides in one file](${writtenUrl}/llms-full.txt)`,
    ].join('\n'),
    '',
  ].join('\n\n')

/** Renders the guides as pages and as Markdown, with an index and a single text of all guides for language models. */
export const renderGuides = async (): Promise<Rendered[]> => {
  const guides = await Promise.all(guideNames.map(readGuide))
  const index = indexOf(guides)
  return [
    { path, page: pageOf('Guides', index, guides), text: textOf('markdown', index) },
    ...guides.flatMap(({ href, title, text }) => [
      { path: href, page: pageOf(title, text, guides, href), text: textOf('markdown', text) },
      { path: `${href}.md`, text: textOf('markdown', text) },
    ]),
    { path: '/skill.md', text: textOf('markdown', await readFile(join(folder, '../skill.md'), 'utf8')) },
    { path: '/llms.txt', text: textOf('plain', index) },
    { path: '/llms-full.txt', text: textOf('plain', guides.map(({ text }) => text).join('\n\n---\n\n')) },
  ]
}
