import { tHelp } from './help-texts.ts'

export const SignInHelp = ({ hasWallet }: { hasWallet: boolean }) => (
  <>
    <details className="small muted">
      <summary>{tHelp('sign_in.lost')}</summary>
      <ol className="stack-xs numbered">
        <li>{tHelp('sign_in.lost_1')}</li>
        <li>{tHelp('sign_in.lost_2')}</li>
        <li>{tHelp('sign_in.lost_3')}</li>
      </ol>
    </details>
    {hasWallet && <p className="faint small">{tHelp('sign_in.free')}</p>}
  </>
)
