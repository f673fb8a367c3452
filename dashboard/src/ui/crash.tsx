import { Component, type ReactNode } from 'react'
import { t } from '../lib/language.ts'

/** `at`: the address of what it holds. Another address is shown whatever went wrong at the one before. */
type Props = { at?: string; children: ReactNode }
type State = { error: Error | null; at: string | undefined }

/** Shown after a bug in these pages. Whatever was sent to the service before it is not undone. */
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
        <p className="quiet">{t('crash.note')}</p>
        {/* Loaded anew: what is broken may be what leads from page to page. */}
        <div className="row">
          <button type="button" className="button button-primary" onClick={() => location.reload()}>
            {t('reload')}
          </button>
          <a className="button button-secondary" href="/">
            {t('go_to_the_overview')}
          </a>
        </div>
        <details>
          <summary className="quiet small">{t('for_support')}</summary>
          <p className="small quiet mono">{error.message}</p>
        </details>
      </div>
    )
    return this.props.at === undefined ? <main className="single">{content}</main> : content
  }
}
