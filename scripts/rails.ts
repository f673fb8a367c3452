import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const rails = fileURLToPath(new URL('../src/rails/', import.meta.url))
const sandbox = fileURLToPath(new URL('../src/dev/sandbox/', import.meta.url))
const lists = 'all'

/** The exports of each provider's folder, by the list that contains them. */
const parts = {
  words: { name: 'words', file: 'words.ts', list: join(rails, lists, 'words.ts'), folders: '../' },
  swahili: { name: 'swahili', file: 'swahili.ts', list: join(rails, lists, 'swahili.ts'), folders: '../' },
  definitions: { name: 'definition', file: 'definition.ts', list: join(rails, lists, 'definitions.ts'), folders: '../' },
  adapters: { name: 'adapter', file: 'adapter.ts', list: join(rails, lists, 'adapters.ts'), folders: '../' },
  emulators: { name: 'emulator', file: 'emulator.ts', list: join(sandbox, 'emulators.ts'), folders: './' },
} as const

const providerOf = async (folder: string): Promise<string> => (await import(join(rails, folder, parts.words.file))).words.provider
const identifier = (folder: string): string => folder.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Generates lists of the providers' exports. A missing file stays in its list, so that the program does not compile. */
export const railLists = async (): Promise<Map<string, string>> => {
  const folders = readdirSync(rails, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== lists)
    .map(({ name }) => name)
    .sort()
  const providers = await Promise.all(
    folders.map(async (folder) => ({ folder, name: identifier(folder), provider: await providerOf(folder) })),
  )
  return new Map(
    Object.entries(parts).map(([name, part]) => {
      const imports = providers.map(
        (each) => `import { ${part.name} as ${each.name} } from '${part.folders}${each.folder}/${part.file}'\n`,
      )
      const entries = providers.map((each) => `  ${each.provider}: ${each.name},\n`)
      const text = `// Written by \`npm run rails\`.\n${imports.join('')}\nexport const ${name} = {\n${entries.join('')}}\n`
      return [part.list, text]
    }),
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) for (const [file, text] of await railLists()) await writeFile(file, text)
