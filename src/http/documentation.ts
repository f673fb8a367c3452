import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../lib/errors.ts'
import { acceptsBrotli } from './accept.ts'
import type { App } from './app-type.ts'
import { readBuilt, registerDownloads } from './downloads.ts'
import { renderPage, sendHtml, wantsPage } from './page.ts'

const form = `<label for="file">Receipt (JSON), or an archive of evidence (ZIP)</label>
<input id="file" type="file" accept=".json,.zip,application/json,application/zip">
<label for="text">or its text</label>
<p><textarea id="text" rows="6" spellcheck="false"></textarea></p>
<p><button id="check" type="button">Check</button></p>
<div id="result" role="status" aria-live="polite"></div>
<noscript><p>This page needs JavaScript. The verifier is also a program: /verify-receipt.mjs.</p></noscript>
<script type="module" src="/verify.js"></script>`

const page = renderPage(
  {
    title: 'Check a receipt',
    paragraphs: [
      'The check runs in this browser and never sends the receipt anywhere. It reads only the public keys of this service.',
    ],
    links: [
      { href: '/docs/guides/receipts', text: 'What a receipt proves' },
      { href: '/', text: 'Dashboard' },
    ],
  },
  form,
)

/** Text from the receipt is inserted as text, never as HTML. */
const script = `import { holds, isArchive, readJson, verifyArchive, verifyReceipt } from '/verify-receipt.mjs'

const [file, text, button, result] = ['file', 'text', 'check', 'result'].map((id) => document.getElementById(id))
const marks = { ok: '✓', bad: '✗ not true:', unchecked: '? not checked:' }
const line = (tag, words) => {
  const element = document.createElement(tag)
  element.textContent = words
  return element
}
const show = (...elements) => result.replaceChildren(...elements)

const check = async (archive) => {
  const what = archive ? 'evidence' : 'receipt'
  show(line('p', 'Checking…'))
  try {
    const receipt = archive ?? readJson(text.value, 'The receipt')
    const answer = await fetch('/.well-known/jwks.json', { credentials: 'omit' })
    const { keys } = await answer.json()
    // The receipt names the address that people know, which a proxy may hide from this page: the keys are this service's either way.
    const findings = await (archive ? verifyArchive : verifyReceipt)(receipt, { keys })
    const good = holds(findings)
    const list = document.createElement('ul')
    for (const { check: name, result: kind, says } of findings) list.append(line('li', marks[kind] + ' ' + name + ': ' + says))
    show(line('h2', 'The ' + what + (good ? ' is valid' : ' is not valid')), list)
  } catch (error) {
    show(line('h2', 'Nothing was checked'), line('p', String(error.message ?? error)))
  }
}

file.addEventListener('change', async () => {
  const bytes = new Uint8Array((await file.files[0]?.arrayBuffer()) ?? 0)
  const isZip = isArchive(bytes)
  text.value = isZip ? '' : new TextDecoder().decode(bytes)
  if (isZip) await check(bytes)
  else if (text.value) await check()
})
button.addEventListener('click', () => check())
`

export type Served = { file: string; type: string; headers: Record<string, string> }
/** The files that `npm run build` rendered for each path: for browsers (`page`) and for all other clients (`text`). */
export type Manifest = Readonly<Record<string, { page?: Served; text?: Served }>>

const built = fileURLToPath(new URL('../../docs/dist/', import.meta.url))
const missing = 'The documentation is not built'
/** The URL in rendered files, to be replaced by the service's own. */
const written = 'http://localhost:3000'

/** Also replaces bare host names, for example in a sample wallet message. */
const atAddress = (text: string, publicUrl: string): string =>
  text.replaceAll(written, publicUrl).replaceAll(new URL(written).host, new URL(publicUrl).host)

const compress = promisify(brotliCompress)
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

/** Makes each file's content at its first request, because the build does not know the service's URL. */
const madeOnce = <Content>(make: (served: Served) => Promise<Content>): ((served: Served) => Promise<Content>) => {
  const known = new Map<string, Promise<Content>>()
  return (served) => {
    const content = known.get(served.file) ?? make(served)
    known.set(served.file, content)
    return content.catch((error: unknown) => {
      known.delete(served.file)
      throw error
    })
  }
}

const sendRendered = (publicUrl: string, withVersions: (text: string) => Promise<string>) => {
  let manifest: Manifest | undefined
  const contentOf = madeOnce(async ({ file }): Promise<string | Buffer> => {
    const content = await readBuilt(built + file, missing)
    const isOurs = !file.endsWith('scalar.js')
    return isOurs ? atAddress(await withVersions(content.toString()), publicUrl) : content
  })
  const compressedOf = madeOnce(async (served) => compress(await contentOf(served), quality))
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    manifest ??= JSON.parse((await readBuilt(`${built}manifest.json`, missing)).toString()) as Manifest
    const path = request.url.replace(/\/?(\?.*)?$/, '')
    const { page, text } = Object.hasOwn(manifest, path) ? (manifest[path] ?? {}) : {}
    const served = wantsPage(request) ? (page ?? text) : (text ?? page)
    if (!served)
      throw new Refusal('not_found', { message: `There is no such page: ${publicUrl}/docs/guides and /docs/errors list them.` })
    const vary = [reply.getHeader('vary'), 'Accept, Accept-Encoding'].flat().filter(Boolean).join(', ')
    reply.headers({ ...served.headers, vary }).type(served.type)
    return acceptsBrotli(request)
      ? reply.header('content-encoding', 'br').send(await compressedOf(served))
      : reply.send(await contentOf(served))
  }
}

export const registerDocumentation = (app: App): void => {
  const open = { config: { internal: true }, schema: { hide: true } }
  const send = sendRendered(app.publicUrl, registerDownloads(app))
  for (const path of ['/openapi.json', '/llms.txt', '/llms-full.txt', '/skill.md', '/docs', '/docs/*']) app.get(path, open, send)
  const own = { config: { internal: true, cors: false as const }, schema: { hide: true } }
  app.get('/verify', own, async (_request, reply) => sendHtml(reply, 200, page, { scripted: true }))
  app.get('/verify.js', own, async (_request, reply) =>
    reply.header('cache-control', 'no-cache').type('text/javascript; charset=utf-8').send(script),
  )
}
