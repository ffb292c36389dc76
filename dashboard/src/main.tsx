/** The entry point: loads the styles and renders the shell. */
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';
import './styles/table.css';
import './styles/pages.css';
import './styles/overview.css';
import './styles/runs.css';
import './styles/run.css';
import './styles/plan.css';
import './styles/flow.css';
import { render } from 'preact';
import { App } from './app.tsx';

render(<App />, document.getElementById('app')!);
