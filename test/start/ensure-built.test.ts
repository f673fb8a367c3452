import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { ensureBuilt } from '../../scripts/ensure-built.ts'

const folder = await mkdtemp(join(tmpdir(), 'ensure-built-'))
afterAll(() => rm(folder, { recursive: true }))

const builder = (name: string) => {
  const seen = { made: 0, atOnce: 0, most: 0 }
  const make = async (draft: string) => {
    seen.atOnce += 1
    seen.most = Math.max(seen.most, seen.atOnce)
    seen.made += 1
    await nextTurn()
    await writeFile(join(draft, 'part'), `made ${seen.made}`)
    seen.atOnce -= 1
  }
  const build = (version = '1') =>
    ensureBuilt({ folder: join(folder, name), sources: ['LICENSE'], tool: 'package.json', version, make })
  return { seen, build }
}

test('starts at the same time make a folder once, and leave nothing beside it', async () => {
  const { seen, build } = builder('together')
  expect((await Promise.all([build(), build(), build()])).sort()).toEqual(['built', 'current', 'current'])
  expect(seen).toEqual({ made: 1, atOnce: 0, most: 1 })
  expect(await build('2')).toBe('built')
  expect(await readFile(join(folder, 'together', 'part'), 'utf8')).toBe('made 2')
  expect(await readdir(folder)).toEqual(['together'])
})

test('one that fails is told, and the next start makes the folder', async () => {
  const { build } = builder('failed')
  const failing = { folder: join(folder, 'failed'), sources: ['LICENSE'], tool: 'package.json' }
  await expect(ensureBuilt({ ...failing, make: () => Promise.reject(new Error('no space')) })).rejects.toThrow('no space')
  expect(await build()).toBe('built')
})

test('a start that was killed while it made a folder holds up none', async () => {
  const { build } = builder('killed')
  const { pid } = spawnSync(process.execPath, ['--version'])
  await writeFile(join(folder, 'killed.lock'), String(pid))
  expect(await build()).toBe('built')
  expect(await readdir(folder)).not.toContain('killed.lock')
})
