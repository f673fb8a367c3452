import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { railLists } from '../../scripts/rails.ts'

// Adds a rail to the list and to nothing else. The compiler must name every place that needs to know about it.

const root = fileURLToPath(new URL('../..', import.meta.url))
let copy: string

const edit = (path: string, change: (text: string) => string): void => {
  const before = readFileSync(join(root, path), 'utf8')
  const after = change(before)
  if (after === before) throw new Error(`${path} was not changed: the test plants nothing`)
  writeFileSync(join(copy, path), after)
}

/** The files that the compiler complains about. */
const complaints = (): Promise<string[]> =>
  new Promise((resolve) => {
    const tsc = join(root, 'node_modules/.bin/tsc')
    execFile(process.execPath, [tsc, '-p', copy, '--singleThreaded'], { cwd: copy, maxBuffer: 16_000_000 }, (_error, output) => {
      const files = [...output.matchAll(/^(\S+?)\(\d+,\d+\): error/gm)].map(([, path = '']) => path)
      resolve([...new Set(files)].sort())
    })
  })

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'new-rail-'))
  for (const folder of ['src', 'client/src', 'dashboard/src']) cpSync(join(root, folder), join(copy, folder), { recursive: true })
  for (const name of ['node_modules', 'package.json', 'texts']) symlinkSync(join(root, name), join(copy, name))
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'))
  const files = ['src/app-rails.ts', 'src/dev/sandbox/rail-sandbox.ts', 'src/process/rails.ts', 'dashboard/src/lib/rails.ts']
  const options = { ...compilerOptions, jsx: 'react-jsx', lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'] }
  writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files }))
})
afterAll(() => rmSync(copy, { recursive: true }))

const list = 'src/lib/rail-names.ts'

const addRow = (provider: string) =>
  edit(list, (text) =>
    text.replace(
      'const rails = {\n',
      `const rails = {\n  NEW_RAIL: { provider: '${provider}', pays: true, topUp: null, accounts: false },\n`,
    ),
  )

/** Writes the lists of `npm run rails` as if the new provider had a folder. */
const addFolder = async () => {
  for (const [file, text] of await railLists()) {
    const path = relative(root, file)
    const [, folders = '', part = ''] = /^import \{ \w+ as daraja \} from '(\.\.?\/)daraja\/(.+)'$/m.exec(text) ?? []
    const name = /^import \{ (\w+) as/m.exec(text)?.[1]
    edit(path, () =>
      text
        .replace('\nexport', `import { ${name} as newcomer } from '${folders}newcomer/${part}'\n\nexport`)
        .replace('= {\n', '= {\n  NEW_PROVIDER: newcomer,\n'),
    )
  }
}

test('the lists are what the folders of the providers say', async () => {
  for (const [file, text] of await railLists()) expect(text, relative(root, file)).toBe(readFileSync(file, 'utf8'))
})

test('a provider that is only listed does not compile without its folder', async () => {
  addRow('NEW_PROVIDER')
  expect(await complaints()).toEqual([
    'src/app-rails.ts',
    'src/dev/sandbox/control.ts',
    'src/dev/sandbox/rail-sandbox.ts',
    'src/rails/definitions.ts',
    'src/rails/texts.ts',
  ])
})

test('a folder does not compile without its definition, adapter, emulator and words', async () => {
  addRow('NEW_PROVIDER')
  await addFolder()
  const found = await complaints()
  expect(found).toEqual(
    expect.arrayContaining([
      'src/dev/sandbox/emulators.ts',
      ...['adapters', 'definitions', 'swahili', 'words'].map((name) => `src/rails/all/${name}.ts`),
    ]),
  )
})

test('a rail of a known provider does not compile until its definition, adapter, emulator and words have it', async () => {
  addRow('MPESA')
  for (const file of (await railLists()).keys()) writeFileSync(join(copy, relative(root, file)), readFileSync(file))
  expect(await complaints()).toEqual([
    'src/dev/sandbox/control.ts',
    'src/dev/sandbox/daraja/emulator.ts',
    'src/dev/sandbox/rail-sandbox.ts',
    'src/rails/daraja/adapter.ts',
    'src/rails/daraja/definition.ts',
    'src/rails/daraja/swahili.ts',
    'src/rails/daraja/words.ts',
    'src/rails/texts.ts',
  ])
})
