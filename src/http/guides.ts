import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyReply } from 'fastify'
import { Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { type GuideLink, renderGuide, sendGuidePage } from './guide-page.ts'
import { wantsPage } from './page.ts'

const folder = fileURLToPath(new URL('../../docs/guides', import.meta.url))
const path = '/docs/guides'

/** In reading order. */
export const guideNames = [
  'quickstart',
  'agents',
  'approvals',
  'passkeys',
  'funding',
  'salaries',
  'oauth',
  'mcp',
  'events',
  'errors',
  'idempotency',
  'permissions',
  'mandates',
  'receipts',
  'key-rotation',
  'sandbox',
  'going-live',
  'changelog',
] as const
type GuideName = (typeof guideNames)[number]

type Guide = { name: GuideName; title: string; summary: string; text: string }

/** The address of this service replaces the one in the guides, so that copied commands work. */
const written = 'http://localhost:3000'

const readGuide = async (name: GuideName, publicUrl: string): Promise<Guide> => {
  const text = (await readFile(join(folder, `${name}.md`), 'utf8')).replaceAll(written, publicUrl)
  const [title = '', summary = ''] = text.split('\n\n')
  return { name, title: title.replace(/^# /, ''), summary: summary.replaceAll('\n', ' '), text }
}

const linkOf = ({ name, title, summary }: Guide): GuideLink => ({ href: `${path}/${name}`, title, summary })

/** The address of the service, and the labels of the payment providers that it pays by. */
type Service = { publicUrl: string; providers: readonly string[] }

/** https://llmstxt.org: an index of what there is to read, for programs. */
const indexFor = (guides: readonly Guide[], { publicUrl, providers }: Service): string =>
  [
    '# Payments service',
    `> Payments for people and software agents over ${providers.join(' and ')}: accounts, API keys with spending limits, OAuth for agents, policies, approvals by passkey and wallet signature, mandates, and an event stream.`,
    '## Guides',
    guides.map(({ name, title, summary }) => `- [${title}](${publicUrl}${path}/${name}.md): ${summary}`).join('\n'),
    '## Reference',
    [
      `- [API document](${publicUrl}/openapi.json): every operation, OpenAPI 3.1`,
      `- [Error codes](${publicUrl}/docs/errors): every code and what to do`,
      `- [Paying twice](${publicUrl}${path}/idempotency.md): one Idempotency-Key for each intended payment. A single payment that looks like one of the last hour is made and has a warning; with on_duplicate: confirm it is 409 until duplicate_of names the earlier one. A list that looks like payments of the last 72 hours is 409 until duplicates_intended is true`,
      `- [MCP server](${publicUrl}/mcp): tools for agents, over streamable HTTP`,
      `- [All guides in one file](${publicUrl}/llms-full.txt)`,
    ].join('\n'),
    '',
  ].join('\n\n')

const sendText = (reply: FastifyReply, type: 'markdown' | 'plain', text: string): FastifyReply =>
  reply.header('cache-control', 'public, max-age=300').type(`text/${type}; charset=utf-8`).send(text)

/** The guides as pages, as Markdown (`.md`, or a request that does not accept HTML), and as one text for language models. */
export const registerGuides = (app: App, service: Service): void => {
  const { publicUrl } = service
  let reading: Promise<Guide[]> | undefined
  // Read on the first request: most processes never serve them.
  const read = () => {
    reading ??= Promise.all(guideNames.map((name) => readGuide(name, publicUrl)))
    return reading
  }
  const declared = { config: { internal: true }, schema: { hide: true } }
  app.get(path, declared, async (request, reply) => {
    const guides = await read()
    if (!wantsPage(request)) return sendText(reply, 'markdown', indexFor(guides, service))
    return sendGuidePage(reply, 'Guides', await renderGuide(indexFor(guides, service)), guides.map(linkOf))
  })
  app.get<{ Params: { name: string } }>(`${path}/:name`, declared, async (request, reply) => {
    const guides = await read()
    const name = request.params.name.replace(/\.md$/, '')
    const guide = guides.find((known) => known.name === name)
    if (!guide) throw new Refusal('not_found', { message: `There is no such guide; ${publicUrl}${path} lists them.` })
    if (name !== request.params.name || !wantsPage(request)) return sendText(reply, 'markdown', guide.text)
    return sendGuidePage(reply, guide.title, await renderGuide(guide.text), guides.map(linkOf), linkOf(guide).href)
  })
  app.get('/llms.txt', declared, async (_request, reply) => sendText(reply, 'plain', indexFor(await read(), service)))
  app.get('/llms-full.txt', declared, async (_request, reply) => {
    const guides = await read()
    return sendText(reply, 'plain', guides.map(({ text }) => text).join('\n\n---\n\n'))
  })
}
