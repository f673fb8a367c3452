import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

/** The compiler's errors, one per line. Several threads would each read the same types. */
const compile = (): Promise<string> =>
  run(process.execPath, ['node_modules/.bin/tsc', '--noEmit', '--singleThreaded', '-p', 'dashboard'], {
    cwd: root,
  }).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  )

// test/client/package.merge.test.ts compares the types with the running code.
test("the pages compile with the API's types: they send no unknown request and read no unknown field", async () => {
  expect(await compile()).toBe('')
})
