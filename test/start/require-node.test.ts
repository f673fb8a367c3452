import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const guard = new URL('../../scripts/require-node.js', import.meta.url)

const runAs = (version: string) => {
  const disguise = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } }); await import('${guard.href}')`
  return spawnSync(process.execPath, ['--input-type=module', '-e', disguise], {
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('.', guard)),
  })
}

describe('an old Node', () => {
  it.each(['20.20.2', '22.18.0'])('%s gets a plain message about what is needed, before anything else fails', (version) => {
    const { status, stderr } = runAs(version)
    expect(status).toBe(1)
    expect(stderr).toMatch(/^This needs Node 24[^\n]*\n$/)
    expect(stderr).toContain(version)
  })

  it('is not Node 24, which starts', () => {
    expect(runAs('24.0.0')).toMatchObject({ status: 0, stderr: '' })
  })
})
