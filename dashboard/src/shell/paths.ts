const decoded = (path: string): string | null => {
  try {
    const once = decodeURIComponent(path)
    return once === path ? path : decoded(once)
  } catch {
    return null
  }
}

/**
 * Only a page of this site: what stands in an address bar must not send anybody elsewhere, nor into the middle of a link or a sign-in
 * (/v1, /link), as the service itself refuses. Dot segments and percent-encoding are undone before it is looked at.
 */
export const safeReturn = (value: string | null): string => {
  if (!value?.startsWith('/') || /^\/[/\\]/.test(value) || /[\u0000-\u001f\\]/.test(value)) return '/'
  const path = decoded(URL.parse(value, 'http://here.invalid')?.pathname ?? '')
  return path === null || /^\/(\/|(v1|link)(\/|$))/i.test(path) ? '/' : value
}

/** The sign-in page, which leads back. `ended`: a session was there, and the page says so. */
export const signInPath = (from: string, ended = false): string => {
  const params = new URLSearchParams({ ...(from !== '/' && { return_to: from }), ...(ended && { reason: 'session_ended' }) })
  return params.size === 0 ? '/sign-in' : `/sign-in?${params}`
}

/** Paths that the service answers itself rather than these pages. */
export const isServerPath = (path: string): boolean => /^\/(v1|link|docs|openapi\.json|\.well-known)(\/|$|\?)/.test(path)
