import { execFileSync } from 'node:child_process'
import { afterEach, expect, it, vi } from 'vitest'
import { environment } from '../../src/dev/embedded-postgres/programs.ts'

afterEach(() => void vi.unstubAllEnvs())

it('gives the programs of the server no variable that is empty', () => {
  for (const name of ['PATH', 'LD_LIBRARY_PATH', 'TMPDIR', 'SystemRoot']) vi.stubEnv(name, '')
  const print = 'process.stdout.write(JSON.stringify(process.env))'
  const given: Record<string, string> = JSON.parse(
    execFileSync(process.execPath, ['-e', print], { env: environment() }).toString(),
  )
  expect(Object.values(given)).not.toContain('')
  expect(given).toMatchObject({ LC_ALL: 'C', TZ: 'UTC' })
})
