import type { App } from './app-type.ts'
import { renderPage, sendHtml } from './page.ts'

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

/** The page on which anyone can check a receipt. */
export const registerVerifyPage = (app: App): void => {
  const declared = { config: { internal: true, cors: false as const }, schema: { hide: true } }
  app.get('/verify', declared, async (_request, reply) => sendHtml(reply, 200, page, { scripted: true }))
  app.get('/verify.js', declared, async (_request, reply) =>
    reply.header('cache-control', 'no-cache').type('text/javascript; charset=utf-8').send(script),
  )
}
