export type Answer = { status: number; body: Record<string, unknown>; headers: Headers }

export type Api = {
  get: (path: string, headers?: Record<string, string>) => Promise<Answer>
  post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Answer>
}

export const createApi = (url: string): Api => {
  const call = async (method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Answer> => {
    const response = await fetch(url + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) }
  }
  return {
    get: (path, headers = {}) => call('GET', path, headers),
    post: (path, body, headers = {}) => call('POST', path, headers, body),
  }
}
