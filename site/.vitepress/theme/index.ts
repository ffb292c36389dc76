// The theme: that of VitePress, with a few corrections.
import theme from 'vitepress/theme';
import './corrections.css';

export default theme;
