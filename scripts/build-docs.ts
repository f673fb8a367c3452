import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Manifest } from '../src/http/documentation.ts'
import { hashContent } from './content-hash.ts'
import type { Rendered } from './docs/rendered.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const built = join(root, 'docs/dist')
const sources = ['src', 'docs/guides', 'docs/openapi', 'scripts/docs', 'scripts/build-docs.ts', 'package-lock.json']

/** Loaded only when something has changed: the API document is made by the routes of the service itself. */
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

const write = async (draft: string, rendered: readonly Rendered[]): Promise<Manifest> => {
  const store = async (file: string, body: string | Buffer) => {
    await mkdir(dirname(join(draft, file)), { recursive: true })
    await writeFile(join(draft, file), body)
  }
  const manifest: Record<string, Manifest[string]> = {}
  for (const { path, page, text } of rendered) {
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
  return manifest
}

export type DocsBuild = 'current' | 'built' | 'kept'

/** Renders the documentation if its sources differ from those of what is there. Where the tools are not installed, it stays as it is. */
export const ensureDocsBuilt = async (): Promise<DocsBuild> => {
  const hash = await hashContent(root, sources)
  if ((await readFile(join(built, 'sources.sha256'), 'utf8').catch(() => null)) === hash) return 'current'
  if (!existsSync(join(root, 'node_modules/marked'))) return 'kept'
  const draft = `${built}.${process.pid}`
  const manifest = await write(draft, await render())
  await writeFile(join(draft, 'manifest.json'), JSON.stringify(manifest))
  await writeFile(join(draft, 'sources.sha256'), hash)
  await rm(built, { recursive: true, force: true })
  await rename(draft, built)
  return 'built'
}

if (process.argv[1] === fileURLToPath(import.meta.url) && (await ensureDocsBuilt()) === 'built')
  console.log('documentation: built')
