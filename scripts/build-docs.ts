import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Manifest } from '../src/http/documentation.ts'
import type { Rendered } from './docs/rendered.ts'
import { ensureBuilt, root } from './ensure-built.ts'

const sources = [
  'src',
  'texts',
  'docs/guides',
  'docs/skill.md',
  'docs/openapi',
  'scripts/docs',
  'scripts/build-docs.ts',
  'scripts/describe-service.ts',
  'package-lock.json',
]

/** Loaded only after a change, because the API document is built from the routes of the service itself. */
const render = async (): Promise<Rendered[]> => {
  const [{ describeService }, { renderGuides }, { renderErrors }, { renderReference }] = await Promise.all([
    import('./describe-service.ts'),
    import('./docs/guides.ts'),
    import('./docs/errors.ts'),
    import('./docs/reference-page.ts'),
  ])
  const { document } = await describeService()
  const json = { type: 'application/json; charset=utf-8', headers: {}, body: JSON.stringify(document) }
  return [{ path: '/openapi.json', text: json }, ...(await renderGuides()), ...renderErrors(), ...(await renderReference())]
}

const write = async (draft: string): Promise<void> => {
  const store = async (file: string, body: string | Buffer) => {
    await mkdir(dirname(join(draft, file)), { recursive: true })
    await writeFile(join(draft, file), body)
  }
  const manifest: Record<string, Manifest[string]> = {}
  for (const { path, page, text } of await render()) {
    const entry: Manifest[string] = {}
    const name = path.slice(1)
    if (page) {
      const { body, headers } = page
      entry.page = { file: `${name}.html`, type: 'text/html; charset=utf-8', headers }
      await store(entry.page.file, body)
    }
    if (text) {
      const { body, ...served } = text
      entry.text = { file: name.includes('.') ? name : `${name}.md`, ...served }
      await store(entry.text.file, body)
    }
    manifest[path] = entry
  }
  await writeFile(join(draft, 'manifest.json'), JSON.stringify(manifest))
}

export const ensureDocsBuilt = () =>
  ensureBuilt({ folder: join(root, 'docs/dist'), sources, tool: 'node_modules/marked', make: write })

// Runs as a separate process, because it loads the service.
if (process.argv[1] === fileURLToPath(import.meta.url)) await ensureDocsBuilt()
