import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRailSandbox } from '../../src/dev/sandbox/rail-sandbox.ts'
import { createSandboxTime } from '../../src/dev/sandbox/scheduler.ts'
import { createMovableClock } from '../../src/lib/clock.ts'
import { readTime } from '../../src/process/rails.ts'
import { createManualScheduler } from '../harness/manual-scheduler.ts'

const week = 7 * 86_400
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'clock-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A sandbox whose time a person moved by a week, to see approvals expire. */
const moved = (kept: string) => {
  const [clock, scheduler] = [createMovableClock(), { ...createManualScheduler(), advance: () => undefined }]
  const moveTime = createSandboxTime(clock, scheduler, kept)
  moveTime.advance(week)
  return createRailSandbox({ scheduler, clock, delayMs: 0, moveTime })
}
const daysAhead = async (config: Partial<Parameters<typeof readTime>[0]>) => {
  const clock = await readTime({ RAILS: undefined, DATA_DIR: folder, SANDBOX_URL: undefined, ...config })
  return (clock.now().getTime() - Date.now()) / 86_400_000
}

describe('a command beside the service works at the time of the service', () => {
  test('which is the kept time of a sandbox in the same data folder', async () => {
    expect(await daysAhead({})).toBeCloseTo(0)
    moved(join(folder, 'sandbox'))
    expect(await daysAhead({})).toBeCloseTo(7)
  })

  test('which is the time of a sandbox that runs by itself; without its answer no command runs', async () => {
    const sandbox = moved(join(folder, 'elsewhere'))
    const url = await sandbox.listen()
    const elsewhere = { DATA_DIR: join(folder, 'none'), SANDBOX_URL: url }
    expect(await daysAhead(elsewhere)).toBeCloseTo(7)
    await sandbox.close()
    await expect(daysAhead(elsewhere)).rejects.toThrow(/The sandbox at SANDBOX_URL .* does not return its time/)
  })

  test('which is the machine’s with real providers, whatever a sandbox left in the folder', async () => {
    moved(join(folder, 'sandbox'))
    expect(await daysAhead({ RAILS: ['daraja'] })).toBeCloseTo(0)
  })
})
