import { describe, expect, test } from 'vitest'
import { describeAddress, parseDatabaseAddress } from '../../src/lib/database-address.ts'

const server = (host: string, port = 5432) => ({ host, port, name: `${host.includes(':') ? `[${host}]` : host}:${port}` })

describe('an address of the database', () => {
  test.each([
    ['postgres://db/payments', [server('db')], 'any', 'postgres://db/payments'],
    [
      'postgresql://u:p%40@db:6543/payments?sslmode=verify-full',
      [server('db', 6543)],
      'any',
      'postgresql://u:p%40@db:6543/payments?sslmode=verify-full',
    ],
    [
      'postgres://u:p@h1,h2:5433/db?sslmode=verify-full&target_session_attrs=read-write&connect_timeout=3',
      [server('h1'), server('h2', 5433)],
      'read-write',
      'postgres://u:p@h1/db?sslmode=verify-full&connect_timeout=3',
    ],
    [
      'postgres://u:p@[::1]:5433,[2001:db8::2]/db?target_session_attrs=primary',
      [server('::1', 5433), server('2001:db8::2')],
      'primary',
      'postgres://u:p@[::1]:5433/db',
    ],
    ['postgres://a,b/db?target_session_attrs=any', [server('a'), server('b')], 'any', 'postgres://a/db'],
    ['postgres:///db?host=/run/postgresql', [], 'any', 'postgres:///db?host=/run/postgresql'],
  ])('%s names its servers in their order, and the same with the first alone', (text, servers, wanted, single) => {
    expect(parseDatabaseAddress(text)).toEqual({ servers, wanted, single })
  })

  test.each([
    ['mysql://u:secret@db/payments', 'it is not of the form postgres://user:password@host:5432/database'],
    ['db:5432/payments', 'it is not of the form'],
    ['postgres://u:secret@h1,,h2/db?target_session_attrs=read-write', '"" is no host:port of a server'],
    ['postgres://u:secret@h1:port/db', '"h1:port" is no host:port of a server'],
    ['postgres://u:secret@h1:70000/db', '"h1:70000" has no port between 1 and 65535'],
    ['postgres://u:secret@h1,h2/db', 'it names several servers: add ?target_session_attrs=read-write'],
    [
      'postgres://u:secret@h1,h2/db?target_session_attrs=standby',
      'target_session_attrs is "standby": it is one of any, read-write, primary',
    ],
    ['postgres://u:secret@h1/db?target_session_attrs=any&target_session_attrs=primary', 'target_session_attrs is there 2 times'],
    ['postgres:///db?host=h1,h2', 'several servers stand before the database, not in ?host='],
    ['postgres:///db?target_session_attrs=primary', 'target_session_attrs needs a server before the database'],
  ])('%s is refused, in a sentence that does not repeat the password', (text, sentence) => {
    expect(() => parseDatabaseAddress(text)).toThrow(sentence)
    expect(() => parseDatabaseAddress(text)).not.toThrow('secret')
  })

  test('is described without its user and its password', () => {
    expect(describeAddress('postgres://app:secret@h1,h2:5433/my%20db?target_session_attrs=read-write')).toEqual({
      servers: 'h1:5432, h2:5433',
      database: 'my db',
    })
  })
})
