import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

// A rail is added to the list and to nothing else: the compiler must name every place that has to say something about it.

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
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    execFile(process.execPath, [tsc, '-p', copy, '--singleThreaded'], { cwd: copy, maxBuffer: 16_000_000 }, (_error, output) => {
      const files = [...output.matchAll(/^(\S+?)\(\d+,\d+\): error/gm)].map(([, path = '']) => path)
      resolve([...new Set(files)].sort())
    })
  })

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'new-rail-'))
  for (const folder of ['src', 'client/src', 'dashboard/src']) cpSync(join(root, folder), join(copy, folder), { recursive: true })
  for (const name of ['node_modules', 'package.json']) symlinkSync(join(root, name), join(copy, name))
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'))
  const files = ['src/app-rails.ts', 'src/sandbox/rail-sandbox.ts', 'src/process/joined-sandbox.ts', 'dashboard/src/lib/rails.ts']
  const options = { ...compilerOptions, jsx: 'react-jsx', lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'] }
  writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files }))
})
afterAll(() => rmSync(copy, { recursive: true }))

const list = 'src/lib/rail-names.ts'
const document = 'client/src/api.ts'

test('a provider that is only listed does not compile until its definition, adapter, emulator and page exist', async () => {
  edit(list, (text) =>
    text.replace(
      'const rails = {\n',
      `const rails = {\n  NEW_PROVIDER: { provider: 'NEW_PROVIDER', pays: true, topUp: null, accounts: false },\n`,
    ),
  )
  edit(document, (text) =>
    text
      .replace('"Rail": "MPESA_B2B"', '"Rail": "NEW_PROVIDER" | "MPESA_B2B"')
      .replace('"provider": "MPESA"', '"provider": "NEW_PROVIDER" | "MPESA"'),
  )
  expect(await complaints()).toEqual([
    'dashboard/src/lib/rails.ts',
    'src/app-rails.ts',
    'src/rails/definitions.ts',
    'src/sandbox/credentials.ts',
    'src/sandbox/emulated.ts',
    'src/sandbox/rail-sandbox.ts',
  ])
})

test('a rail of a known provider does not compile until its definition, adapter and emulator have it', async () => {
  edit(list, (text) =>
    text.replace(
      'const rails = {\n',
      `const rails = {\n  NEW_RAIL: { provider: 'MPESA', pays: true, topUp: null, accounts: false },\n`,
    ),
  )
  writeFileSync(join(copy, document), readFileSync(join(root, document)))
  expect(await complaints()).toEqual([
    'src/rails/daraja/adapter.ts',
    'src/rails/daraja/definition.ts',
    'src/sandbox/emulated.ts',
    'src/sandbox/statement.ts',
  ])
})
