/** `host`: null for a socket (`?host=`). `server`: host and port, for messages. */
export type DatabaseAddress = { host: string | null; server: string; database: string }

/** An invalid address. The message never contains the user or the password. */
export class AddressError extends Error {
  override name = 'AddressError'
}

const shape = /^postgres(?:ql)?:\/\/([^/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/

const refuse = (part: string): never => {
  throw new AddressError(part)
}

const several =
  'it names several servers: use one address that leads to the primary, such as that of haproxy (deploy/haproxy/postgres.cfg) or of a managed database'

/** Undefined if the percent-encoded bytes are not valid UTF-8. */
export const decodedPart = (part: string): string | undefined => {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/**
 * Parses `postgres://user:password@host:5432/database`.
 * @throws AddressError
 */
export const parseDatabaseAddress = (text: string): DatabaseAddress => {
  const [, authority = '', , queryText = ''] =
    shape.exec(text) ?? refuse('it must have the form postgres://user:password@host:5432/database')
  const query = new URLSearchParams(queryText)
  const hostAndPort = authority.slice(authority.lastIndexOf('@') + 1)
  if (hostAndPort.includes(',') || query.get('host')?.includes(',')) refuse(several)
  if (query.has('target_session_attrs'))
    refuse(
      'it has target_session_attrs, which selects one of several servers: remove it, and use an address that leads to the primary',
    )
  if (hostAndPort !== '' && !/^(?:\[[0-9a-f:.]+\]|[^\s:[\]]+)(?::\d{1,5})?$/i.test(hostAndPort))
    refuse(`"${hostAndPort}" is not host:port`)
  if (!URL.canParse(text))
    refuse('its user or password has a character that must be written as %XX (@ is %40, / is %2F), or its port is invalid')
  const { hostname, port, pathname, username, password } = new URL(text)
  // The driver accepts such a % in some parts and throws in others.
  if (/%(?![\da-f]{2})/i.test(text)) refuse('it has a % without two hexadecimal digits after it: write % itself as %25')
  const [database = ''] = [pathname.slice(1), username, password].map(
    (part) => decodedPart(part) ?? refuse('its %XX codes are not valid UTF-8'),
  )
  return {
    host: hostname === '' ? null : hostname,
    server: hostname === '' ? 'localhost' : `${hostname}:${port || '5432'}`,
    database,
  }
}
