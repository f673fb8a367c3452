/** One server of a database's address. `name` is for people. */
export type DatabaseServer = { host: string; port: number; name: string }

/** What a server must be for a connection to stay on it; PostgreSQL's own names. */
export const sessionAttributes = ['any', 'read-write', 'primary'] as const
export type SessionAttribute = (typeof sessionAttributes)[number]

/**
 * Where a database is. `servers` are tried in their order; there is none where the address names a socket by `?host=`. `single` is the same
 * address with the first server alone and without `target_session_attrs`: what every parser of URLs can read.
 */
export type DatabaseAddress = { servers: readonly DatabaseServer[]; wanted: SessionAttribute; single: string }

/** Its message is a part of a sentence, and holds neither the user nor the password. */
export class AddressError extends Error {
  override name = 'AddressError'
}

const defaultPort = 5432
const shape = /^(postgres(?:ql)?:\/\/)([^/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/
const wantedName = 'target_session_attrs'

const refuse = (part: string): never => {
  throw new AddressError(part)
}

const serverOf = (text: string): DatabaseServer => {
  const [, bracketed, plain, digits = String(defaultPort)] =
    /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]]+))(?::(\d{1,5}))?$/i.exec(text) ?? []
  const host = bracketed ?? plain ?? refuse(`"${text}" is no host:port of a server`)
  const port = Number(digits)
  if (port < 1 || port > 65_535) refuse(`"${text}" has no port between 1 and 65535`)
  return { host: decodeURIComponent(host), port, name: `${bracketed === undefined ? host : `[${host}]`}:${port}` }
}

const wantedOf = (query: URLSearchParams): SessionAttribute => {
  const named = query.getAll(wantedName)
  if (named.length > 1) refuse(`${wantedName} is there ${named.length} times`)
  const found = sessionAttributes.find((each) => each === (named[0] ?? 'any'))
  return found ?? refuse(`${wantedName} is "${named[0]}": it is one of ${sessionAttributes.join(', ')}`)
}

/**
 * Reads `postgres://user:password@host1:5432,host2:5432/database?target_session_attrs=read-write`, as libpq does.
 * @throws AddressError
 */
export const parseDatabaseAddress = (text: string): DatabaseAddress => {
  const [, scheme = '', authority = '', path = '', queryText = ''] =
    shape.exec(text) ??
    refuse('it is not of the form postgres://user:password@host:5432/database (several servers: host1:5432,host2:5432)')
  const userEnd = authority.lastIndexOf('@') + 1
  const hosts = authority.slice(userEnd)
  const query = new URLSearchParams(queryText)
  if (query.get('host')?.includes(',')) refuse('several servers stand before the database, not in ?host=')
  const servers = hosts === '' ? [] : hosts.split(',').map(serverOf)
  const wanted = wantedOf(query)
  if (servers.length > 1 && !query.has(wantedName))
    refuse(`it names several servers: add ?${wantedName}=read-write, or a connection may stay on one that takes no writes`)
  if (servers.length === 0 && query.has(wantedName)) refuse(`${wantedName} needs a server before the database`)
  // By text: what a parser of parameters writes again is not what was there.
  const rest = queryText.split('&').filter((part) => part !== '' && !part.startsWith(`${wantedName}=`))
  const first = hosts.split(',')[0] ?? ''
  const single = `${scheme}${authority.slice(0, userEnd)}${first}${path}${rest.length === 0 ? '' : `?${rest.join('&')}`}`
  if (!URL.canParse(single)) refuse('its user or password has a character that must be written as %XX (@ is %40, / is %2F)')
  return { servers, wanted, single }
}

/** For people: servers and database, without the user and the password. */
export const describeAddress = (text: string): { servers: string; database: string } => {
  const { servers, single } = parseDatabaseAddress(text)
  const { pathname } = new URL(single)
  return { servers: servers.map(({ name }) => name).join(', ') || 'localhost', database: decodeURIComponent(pathname.slice(1)) }
}
