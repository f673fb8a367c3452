import { isStorable } from '../../http/request-syntax.ts'

// Matches the text, because a parser would normalise the parts to compare.
const loopbackPattern = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::\d{1,5})?((?:[/?].*)?)$/
const maxUriLength = 2000

/**
 * Schemes that a browser or a system program runs or shows. Any other scheme may belong to an application. RFC 8252 (7.1) asks
 * for a domain name, but editors use schemes without a dot (`cursor`, `vscode`).
 */
const systemSchemes = new Set(
  (
    'javascript data file blob vbscript about filesystem view-source chrome edge resource jar ws wss ftp ftps sftp ssh telnet smb afp nfs dav davs ' +
    'ldap ldaps mailto tel sms facetime intent android-app market itms itms-apps search-ms shell res mhtml content'
  ).split(' '),
)
/** Schemes of browsers, with or without a suffix. A redirect to such a scheme could open any page of the network. */
const browserSchemes =
  /^(?:googlechromes?|microsoft-edge|firefox|opera|brave|vivaldi|x-safari|touch-https?|ms|x-apple)(?:-|$)|^web\+|-extension$/
const isPrivateUse = (scheme: string): boolean => !systemSchemes.has(scheme) && !browserSchemes.test(scheme)

export const isLocalRedirect = (uri: string): boolean => loopbackPattern.test(uri) || !/^https?:/i.test(uri)

export const redirectUriProblem = (uri: string): string | undefined => {
  if (uri.length > maxUriLength) return `is longer than ${maxUriLength} characters`
  if (/[\s\u0000-\u001f\u007f\\]/.test(uri) || !isStorable(uri) || !URL.canParse(uri)) return 'must be an absolute URI'
  const url = new URL(uri)
  const scheme = url.protocol.slice(0, -1)
  if (uri.includes('#')) return 'must not have a fragment'
  if (url.username !== '' || url.password !== '') return 'must not have a user name or password'
  if (uri.includes('*')) return 'must not have a wildcard'
  if (scheme === 'https') return undefined
  if (scheme === 'http')
    return loopbackPattern.test(uri) ? undefined : 'must be https, unless it is on 127.0.0.1, [::1] or localhost'
  if (!isPrivateUse(scheme)) return `must not have the scheme ${scheme.slice(0, 20)}: it belongs to browsers or to the system`
  return uri.slice(scheme.length).startsWith(':/') ? undefined : 'must have a path after its scheme'
}

/** With and without the last slash, a loopback address is one address. Others are compared byte for byte. */
export const withoutLastSlash = (uri: string): string =>
  loopbackPattern.test(uri) ? uri.replace(/^([^?]*?)\/?(\?.*)?$/, '$1$2') : uri

const withoutPort = (uri: string): string | undefined => {
  const parts = loopbackPattern.exec(withoutLastSlash(uri))
  return parts ? `${parts[1]}${parts[2]}` : undefined
}

/** Compares bytes, except for the port and last slash of a loopback address: native apps use free ports (RFC 8252, 7.3). */
export const matchesRedirectUri = (registered: string, requested: string): boolean => {
  if (registered === requested) return true
  const anyPort = withoutPort(registered)
  return anyPort !== undefined && redirectUriProblem(requested) === undefined && anyPort === withoutPort(requested)
}

/** The host of a web address, or the scheme of an application on the device. */
export const redirectHost = (uri: string): string => {
  const url = new URL(uri)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.host : `${url.protocol}//`
}
