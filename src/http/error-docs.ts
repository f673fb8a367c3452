import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorCode, errorCodes, errorRow } from '../errors/catalogue.ts'
import { Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { errorPagePath } from './envelope.ts'
import { renderPage, sendHtml, wantsPage } from './page.ts'

/** A code outside our catalogue, with the description from its own specification. */
export type ForeignCode = { code: string; status: number; sentence: string }
type Topic = { code: string; status: number; paragraphs: readonly string[] }

const ownTopic = (code: ErrorCode): Topic => {
  const { status, sentence, fix, details } = errorRow(code)
  return { code, status, paragraphs: [sentence, fix, ...(details === undefined ? [] : [`In \`details\`: ${details}`])] }
}

const asText = ({ code, status, paragraphs }: Topic): string =>
  [`# ${code}`, `HTTP status ${status}.`, ...paragraphs].join('\n\n').concat('\n')

const asPage = ({ code, status, paragraphs }: Topic): string =>
  renderPage({
    title: code,
    paragraphs: [`HTTP status ${status}.`, ...paragraphs.map((text) => text.replaceAll('`', ''))],
    links: [
      { href: '/docs/errors', text: 'All error codes' },
      { href: '/docs', text: 'API reference' },
      { href: '/', text: 'Dashboard' },
    ],
  })

const send = (request: FastifyRequest, reply: FastifyReply, page: string, text: string): FastifyReply =>
  wantsPage(request) ? sendHtml(reply, 200, page) : reply.type('text/markdown; charset=utf-8').send(text)

/** A page for each code, where `details.doc_url` leads: HTML for a browser, Markdown for programs and agents. */
export const registerErrorDocs = (app: App, foreign: readonly ForeignCode[]): void => {
  const own = errorCodes.map(ownTopic)
  const ofOthers = foreign
    .filter(({ code }) => !own.some((topic) => topic.code === code))
    .map(({ code, status, sentence }) => ({ code, status, paragraphs: [sentence, 'A code of the OAuth endpoints.'] }))
  const topics = new Map([...own, ...ofOthers].map((topic) => [topic.code, topic]))
  const all = [...topics.values()]
  const index = renderPage({
    title: 'Error codes',
    paragraphs: ['Every refusal has the shape {error, message, details}. The code in error is what a program decides by.'],
    links: [
      { href: '/', text: 'Dashboard', primary: true },
      { href: '/docs', text: 'API reference' },
      ...all.map(({ code, status }) => ({ href: errorPagePath(code), text: `${status} ${code}` })),
    ],
  })
  app.get('/docs/errors', async (request, reply) => send(request, reply, index, all.map(asText).join('\n')))
  app.get<{ Params: { code: string } }>('/docs/errors/:code', async (request, reply) => {
    const topic = topics.get(request.params.code)
    if (!topic) throw new Refusal('not_found', { message: 'There is no such error code.' })
    return send(request, reply, asPage(topic), asText(topic))
  })
}
