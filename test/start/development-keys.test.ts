import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config.ts'
import { findKeys, keyNames, keysFileName } from '../../src/dev/development-keys.ts'
import { StartupError } from '../../src/lib/errors.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keys-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const find = (variables: Record<string, string> = {}) => findKeys(loadConfig({ DATA_DIR: folder, ...variables }))
const configured = `mine:${Buffer.alloc(32, 7).toString('base64')}`

describe('development keys', () => {
  it('are created once, readable only by their owner, and used again', async () => {
    const first = await find()
    expect(first.generated).toBe(true)
    expect((await stat(join(folder, keysFileName))).mode & 0o777).toBe(0o600)
    expect(await readdir(folder)).toEqual([keysFileName])
    expect(await find()).toEqual({ ...first, generated: false })
  })

  it('are the same for processes that start at the same moment', async () => {
    const results = await Promise.all(Array.from({ length: 8 }, () => find()))
    const kept = await find()
    for (const keys of results) expect(keys.settings).toEqual(kept.settings)
  })

  it('are replaced by configured ones, each separately', async () => {
    const keys = await find({ TOKEN_SECRETS: configured })
    expect(keys.settings.TOKEN_SECRETS?.current.id).toBe('mine')
    expect(keys.settings.ENCRYPTION_KEYS?.current.id).toMatch(/^dev-/)
    const all = Object.fromEntries(keyNames.map((name) => [name, configured]))
    expect(await find(all)).toMatchObject({ file: null, generated: false })
  })

  it('are never replaced if their file is damaged, and never printed', async () => {
    await find()
    const file = join(folder, keysFileName)
    const damaged = (await readFile(file, 'utf8')).slice(0, -20)
    await writeFile(file, damaged)
    const refusal = await find().catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(StartupError)
    expect(String(refusal)).toContain(file)
    expect(String(refusal)).not.toMatch(/dev-[0-9a-f]{8}/)
    expect(await readFile(file, 'utf8')).toBe(damaged)
  })
})
