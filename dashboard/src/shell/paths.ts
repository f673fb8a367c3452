const decoded = (path: string): string | null => {
  try {
    const once = decodeURIComponent(path)
    return once === path ? path : decoded(once)
  } catch {
    return null
  }
}

/**
 * Allows only pages of this site. A crafted URL must not lead to another site, nor into the middle of a link or a sign-in (/v1,
 * /link). The service refuses these too. Dot segments and percent-encoding are resolved before the check.
 */
export const safeReturn = (value: string | null): string => {
  if (!value?.startsWith('/') || /^\/[/\\]/.test(value) || /[\u0000-\u001f\\]/.test(value)) return '/'
  const path = decoded(URL.parse(value, 'http://here.invalid')?.pathname ?? '')
  return path === null || /^\/(\/|(v1|link)(\/|$))/i.test(path) ? '/' : value
}

/** URL of the sign-in page, which leads back to `from`. `ended`: the page says that the session has ended. */
export const signInPath = (from: string, ended = false): string => {
  const params = new URLSearchParams({ ...(from !== '/' && { return_to: from }), ...(ended && { reason: 'session_ended' }) })
  return params.size === 0 ? '/sign-in' : `/sign-in?${params}`
}

/** Whether the service answers the path itself, without a page of the dashboard. */
export const isServerPath = (path: string): boolean => /^\/(v1|link|docs|openapi\.json|\.well-known)(\/|$|\?)/.test(path)

/** Last page of the step-up window. */
export const confirmedPath = '/sign-in/confirmed'

const pagesByPrefix: Readonly<Record<string, string>> = {
  pay: '/payments/',
  pba: '/payments/batches/',
  apr: '/approvals/',
  ben: '/beneficiaries/',
  pol: '/policies/',
  man: '/mandates/',
  top: '/top-up/',
  gra: '/agents/',
}

export const hrefOfId = (subject: { id: string } | null): string | null => {
  const place = subject && pagesByPrefix[subject.id.slice(0, 3)]
  return place ? place + subject.id : null
}

/** Page of the last resource in a request's path. Null if no resource has a page. */
export const requestHref = (path: string): string | null =>
  path
    .split('/')
    .filter((part) => /^[a-z]{3}_[0-9a-z]{26}$/.test(part))
    .reduce<string | null>((found, id) => hrefOfId({ id }) ?? found, null)
