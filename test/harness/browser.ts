/** A browser's state after a request and its redirects: its last address, and those on the way. */
export type BrowserPage = { status: number; url: string; html: string; headers: Headers; visited: string[] }

export type Browser = {
  /** Cookies by name, as this browser would send them to the service. */
  cookies: Map<string, string>
  /** Follows redirects, like a browser after a typed address or a followed link. */
  open: (url: string, headers?: Record<string, string>) => Promise<BrowserPage>
  /** Sends one request without following redirects. */
  step: (url: string, headers?: Record<string, string>) => Promise<BrowserPage>
}

const keepCookies = (cookies: Map<string, string>, headers: Headers): void => {
  for (const line of headers.getSetCookie()) {
    const [pair = ''] = line.split(';')
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    const ended = /expires=Thu, 01 Jan 1970/i.test(line)
    if (ended) cookies.delete(name)
    else cookies.set(name, value)
  }
}

/** A browser without a window: cookies and redirects. One jar for every address, because the service is the tests' only site. */
export const createBrowser = (start: Record<string, string> = {}): Browser => {
  const cookies = new Map(Object.entries(start))
  const step: Browser['step'] = async (url, headers = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { accept: 'text/html', ...(cookie && { cookie }), ...headers },
    })
    keepCookies(cookies, response.headers)
    return { status: response.status, url, html: await response.text(), headers: response.headers, visited: [url] }
  }
  const open: Browser['open'] = async (url, headers) => {
    let page = await step(url, headers)
    const visited = [url]
    for (let location = page.headers.get('location'); location !== null; location = page.headers.get('location')) {
      const next = new URL(location, page.url).href
      visited.push(next)
      if (visited.length > 10) throw new Error('too many redirects')
      page = await step(next)
    }
    return { ...page, visited }
  }
  return { cookies, open, step }
}

const decodeHtml = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'")

/** The addresses that a page links to. */
export const linksOf = (page: BrowserPage): string[] =>
  [...page.html.matchAll(/<a[^>]* href="([^"]*)"/g)].map((match) => new URL(decodeHtml(match[1] ?? ''), page.url).href)
