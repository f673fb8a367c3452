import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

/** The compiler's errors, one on each line. Several threads would each read the same types. */
const compile = (): Promise<string> =>
  run(process.execPath, ['node_modules/.bin/tsc', '--noEmit', '--singleThreaded', '-p', 'dashboard'], {
    cwd: root,
  }).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  )

// That the types are those of the running code is held by test/client/package.merge.test.ts.
test("the pages compile with the API's types: they send no unknown request and read no unknown field", async () => {
  expect(await compile()).toBe('')
})
