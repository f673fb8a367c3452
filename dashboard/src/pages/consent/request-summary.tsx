import type { Schemas } from '../../api/types.ts'
import { Icon } from '../../ui/icon.tsx'
import { Notice } from '../../ui/layout.tsx'
import { Badge } from '../../ui/status.tsx'

type Props = { authorization: Schemas['OAuthAuthorization']; sentence: string }

/** Who requests access, for what, and where the answer goes: what a forged request can't hide. */
export const RequestSummary = ({ authorization, sentence }: Props) => {
  const { client, redirect_host: host, redirect_is_local: local, flow, user_code: code } = authorization
  const verified = client.verified_host !== null
  return (
    <div className="stack-s">
      <div className="row">
        <span className="avatar avatar-large tone-accent">
          <Icon name="robot" size={22} />
        </span>
        <span className="strong">{client.name}</span>
        {verified ? <Badge tone="good">{`Verified: ${client.verified_host}`}</Badge> : <Badge tone="warn">Unverified app</Badge>}
      </div>
      <h1 className="consent-sentence">{sentence}</h1>
      {local && (
        <Notice
          tone="warn"
          title={verified ? 'The app runs on this computer' : 'The app runs on this computer, and its name is not verified'}
        >
          <p className="quiet">Any program here could pretend to be it. Continue only if you just started it.</p>
        </Notice>
      )}
      {!verified && !local && (
        <Notice tone="warn" title="This app’s name is not verified">
          <p className="quiet">Any program can use this name. Continue only if you started this yourself, just now.</p>
        </Notice>
      )}
      {host && (
        <p className="quiet small">
          After you decide, you return to <strong className="mono break">{host}</strong>.
        </p>
      )}
      {flow === 'device' && code && (
        <p className="quiet">
          The device must show <strong className="mono">{code}</strong>. If it shows anything else, deny.
        </p>
      )}
    </div>
  )
}
