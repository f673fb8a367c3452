import { type ErrorCode, errorCodes, errorRow } from '../../src/errors/catalogue.ts'
import { errorPagePath } from '../../src/http/envelope.ts'
import { htmlHeaders, renderPage } from '../../src/http/page.ts'
import { oauthCatalogue } from '../../src/modules/oauth/errors.ts'
import { oauthRemedies } from './oauth-remedies.ts'
import type { Rendered } from './rendered.ts'

type Topic = { code: string; status: number; paragraphs: readonly string[]; guide?: { href: string; text: string } }

const ownTopic = (code: ErrorCode): Topic => {
  const { status, sentence, fix, details } = errorRow(code)
  return { code, status, paragraphs: [sentence, fix, ...(details === undefined ? [] : [`In \`details\`: ${details}`])] }
}

const asText = ({ code, status, paragraphs, guide }: Topic): string =>
  [`# ${code}`, `HTTP status ${status}.`, ...paragraphs, ...(guide ? [`Guide: [${guide.text}](${guide.href})`] : [])]
    .join('\n\n')
    .concat('\n')

const asPage = ({ code, status, paragraphs, guide }: Topic): string =>
  renderPage({
    title: code,
    paragraphs: [`HTTP status ${status}.`, ...paragraphs.map((text) => text.replaceAll('`', ''))],
    links: [
      ...(guide ? [guide] : []),
      { href: '/docs/errors', text: 'All error codes' },
      { href: '/docs', text: 'API reference' },
      { href: '/', text: 'Dashboard' },
    ],
  })

const guide = { href: '/docs/guides/oauth', text: 'OAuth for agents' }

const oauthTopics = Object.entries(oauthRemedies).map(([code, remedy]): Topic => {
  const [status, sentence] = oauthCatalogue[code as keyof typeof oauthRemedies]
  return { code, status, paragraphs: [sentence, remedy], guide }
})

const topics = [...errorCodes.map(ownTopic), ...oauthTopics]

const index = renderPage({
  title: 'Error codes',
  paragraphs: ['Every refusal has the shape {error, message, details}. The code in error is what a program decides by.'],
  links: [
    { href: '/', text: 'Dashboard', primary: true },
    { href: '/docs', text: 'API reference' },
    ...topics.map(({ code, status }) => ({ href: errorPagePath(code), text: `${status} ${code}` })),
  ],
})

const rendered = (path: string, page: string, text: string): Rendered => ({
  path,
  page: { headers: htmlHeaders(false), body: page },
  text: { type: 'text/markdown; charset=utf-8', headers: {}, body: text },
})

/** Renders one page per code, to which `details.doc_url` links. */
export const renderErrors = (): Rendered[] => [
  rendered('/docs/errors', index, topics.map(asText).join('\n')),
  ...topics.map((topic) => rendered(errorPagePath(topic.code), asPage(topic), asText(topic))),
]
