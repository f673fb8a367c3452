import type { App } from '../../http/app-type.ts'
import { escapeHtml, renderPage, sendHtml } from '../../http/page.ts'
import { Refusal } from '../../lib/errors.ts'
import { isLoopbackUrl } from '../../lib/loopback.ts'

type Letter = Readonly<Record<'subject' | 'to' | 'at' | 'language', string>> & {
  readonly paragraphs: readonly string[]
  readonly action: { readonly text: string; readonly url: string }
  readonly notes: readonly string[]
}

const html = ({
  subject,
  to,
  at,
  language,
  paragraphs,
  action,
  notes,
}: Letter): string => `<article lang="${escapeHtml(language)}">
<hr>
<h2>${escapeHtml(subject)}</h2>
<p><small>To ${escapeHtml(to)}, ${escapeHtml(at)}</small></p>
${paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`).join('\n')}
<p><a class="primary" href="${escapeHtml(action.url)}">${escapeHtml(action.text)}</a></p>
<p><small>${notes.map(escapeHtml).join('<br>')}</small></p>
</article>`

/** Shows unsent mails with working links. Only for this machine, because an invitation's link contains its token. */
export const registerMailbox = (app: App, read: () => Promise<readonly Letter[]>): void => {
  const config = { internal: true, access: 'public' as const }
  app.get('/sandbox/mail', { config, schema: { hide: true } }, async (request, reply) => {
    if (!isLoopbackUrl(`http://${request.headers.host ?? ''}`)) throw new Refusal('forbidden')
    const letters = await read()
    const page = {
      title: 'Mailbox (sandbox)',
      paragraphs: [
        'No email leaves this machine, because SMTP_URL is not set. These are the emails that people would have received, newest first.',
      ],
      links: [{ href: '/account', text: 'Notification settings' }],
    }
    return sendHtml(reply, 200, renderPage(page, letters.map(html).join('\n') || '<p>No emails yet.</p>'))
  })
}
