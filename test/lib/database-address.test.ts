import { describe, expect, test } from 'vitest'
import { parseDatabaseAddress } from '../../src/lib/database-address.ts'

describe('an address of the database', () => {
  test.each([
    ['postgres://db/payments', { host: 'db', server: 'db:5432', database: 'payments' }],
    ['postgresql://u:p%40@db:6543/my%20db?sslmode=verify-full', { host: 'db', server: 'db:6543', database: 'my db' }],
    ['postgres://u:p@[::1]:5433/db', { host: '[::1]', server: '[::1]:5433', database: 'db' }],
    ['postgres://u:50%25off@db/100%25', { host: 'db', server: 'db:5432', database: '100%' }],
    ['postgres:///db?host=/run/postgresql', { host: null, server: 'localhost', database: 'db' }],
  ])('%s is one server and one database', (text, address) => {
    expect(parseDatabaseAddress(text)).toEqual(address)
  })

  test.each([
    ['mysql://u:secret@db/payments', 'it must have the form postgres://user:password@host:5432/database'],
    ['db:5432/payments', 'it must have the form'],
    ['postgres://u:secret@h1:port/db', '"h1:port" is not host:port'],
    ['postgres://u:secret@h1:70000/db', 'its port is invalid'],
    ['postgres://u:secret@h1,h2/db', 'it names several servers: use one address that leads to the primary'],
    ['postgres:///db?host=h1,h2', 'it names several servers'],
    ['postgres://u:secret%@h1/db', 'it has a % without two hexadecimal digits after it: write % itself as %25'],
    ['postgres://h1/100%', 'it has a % without two hexadecimal digits after it: write % itself as %25'],
    ['postgres://u:secret%ff@h1/db', 'its %XX codes are not valid UTF-8'],
    [
      'postgres://u:secret@h1/db?target_session_attrs=read-write',
      'it has target_session_attrs, which selects one of several servers',
    ],
  ])('%s is refused, in a sentence that does not repeat the password', (text, sentence) => {
    expect(() => parseDatabaseAddress(text)).toThrow(sentence)
    expect(() => parseDatabaseAddress(text)).not.toThrow('secret')
  })
})
