import { Component, type ReactNode } from 'react'
import { t } from '../lib/language.ts'

/** `at`: path of the content. A new path clears the error of the previous one. */
type Props = { at?: string; children: ReactNode }
type State = { error: Error | null; at: string | undefined }

/** Error page, shown after a bug in the dashboard. Requests that were already sent still take effect. */
export class Crash extends Component<Props, State> {
  override state: State = { error: null, at: this.props.at }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  static getDerivedStateFromProps({ at }: Props, state: State): State {
    return state.at === at ? state : { error: null, at }
  }

  override render() {
    const { error } = this.state
    if (!error) return this.props.children
    const content = (
      <div className="single-inner stack" role="alert">
        <h1>{t('crash')}</h1>
        <p className="muted">{t('crash.note')}</p>
        {/* Loads a new document, because the router may be broken. */}
        <div className="row">
          <button type="button" className="button button-primary" onClick={() => location.reload()}>
            {t('reload')}
          </button>
          <a className="button button-secondary" href="/">
            {t('go_to_the_overview')}
          </a>
        </div>
        <details>
          <summary className="muted small">{t('for_support')}</summary>
          <p className="small muted mono">{error.message}</p>
        </details>
      </div>
    )
    return this.props.at === undefined ? <main className="single">{content}</main> : content
  }
}
