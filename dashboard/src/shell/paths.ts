/** Only a path of this site: what stands in an address bar must not send anybody elsewhere. */
export const safeReturn = (value: string | null): string =>
  value?.startsWith('/') && !/^\/[/\\]/.test(value) && !/[\u0000-\u001f]/.test(value) ? value : '/'

/** The sign-in page, which leads back. `ended`: a session was there, and the page says so. */
export const signInPath = (from: string, ended = false): string => {
  const params = new URLSearchParams({ ...(from !== '/' && { return_to: from }), ...(ended && { reason: 'session_ended' }) })
  return params.size === 0 ? '/sign-in' : `/sign-in?${params}`
}

/** Paths that the service answers itself rather than these pages. */
export const isServerPath = (path: string): boolean => /^\/(v1|link|docs|openapi\.json|\.well-known)(\/|$|\?)/.test(path)
