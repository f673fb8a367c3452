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
    ['mysql://u:secret@db/payments', 'it is not of the form postgres://user:password@host:5432/database'],
    ['db:5432/payments', 'it is not of the form'],
    ['postgres://u:secret@h1:port/db', '"h1:port" is no host:port of a server'],
    ['postgres://u:secret@h1:70000/db', 'its port is none'],
    ['postgres://u:secret@h1,h2/db', 'it names several servers: name one address that leads to the primary instead'],
    ['postgres:///db?host=h1,h2', 'it names several servers'],
    ['postgres://u:secret%@h1/db', 'it has a % that begins no code of the form %XX: a percent sign is written as %25'],
    ['postgres://h1/100%', 'it has a % that begins no code of the form %XX: a percent sign is written as %25'],
    ['postgres://u:secret%ff@h1/db', 'it has a code of the form %XX that is no UTF-8'],
    [
      'postgres://u:secret@h1/db?target_session_attrs=read-write',
      'it has target_session_attrs, which chooses among several servers',
    ],
  ])('%s is refused, in a sentence that does not repeat the password', (text, sentence) => {
    expect(() => parseDatabaseAddress(text)).toThrow(sentence)
    expect(() => parseDatabaseAddress(text)).not.toThrow('secret')
  })
})
