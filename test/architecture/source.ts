import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

/** `to` is a path below src for our own files, `npm:<specifier>` for everything else. */
export type Import = { to: string; ours: boolean; typeOnly: boolean }
export type Source = { path: string; text: string; code: string; imports: readonly Import[] }

const root = fileURLToPath(new URL('../..', import.meta.url))
const specifiers = /\b(?:(?:import|export)\s+(type\s)?[^'"`;()]*?)\bfrom\s+'([^']+)'|\bimport\s+'([^']+)'|\bimport\('([^']+)'\)/g
// Good enough for our own formatted code: a comment begins a line, or follows a blank.
const comments = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm

export const parseSource = (path: string, text: string): Source => {
  const code = text.replace(comments, '')
  const imports = [...code.matchAll(specifiers)].map((match): Import => {
    const name = match[2] ?? match[3] ?? match[4] ?? ''
    const typeOnly = match[1] !== undefined
    const ours = name.startsWith('.')
    return { to: ours ? normalize(join(dirname(path), name)) : `npm:${name}`, ours, typeOnly }
  })
  return { path, text, code, imports }
}

const read = (folder: string, pattern: string): Source[] =>
  globSync(pattern, { cwd: folder })
    .sort()
    .map((path) => parseSource(path, readFileSync(join(folder, path), 'utf8')))

/** Programs that a person runs beside the service and nothing imports. Like scripts, they print, exit and read as needed. */
const commands = /^(dev\/(demo\/|db-reset\.ts|sandbox\/run\.ts)|operate\/(admin|drill)\/)/

/** The service: paths from `src`. */
export const readSources = (): Source[] => read(join(root, 'src'), '**/*.ts').filter(({ path }) => !commands.test(path))

/** Everything that runs outside tests, by paths from the root. Generated files are left out. */
export const readProgram = (): Source[] =>
  read(root, '{src,scripts,client/src,dashboard/src}/**/*.{ts,tsx}').filter(
    ({ path }) => path !== 'client/src/api-types.generated.ts',
  )
