import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["component/", "node_modules/"] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2024, sourceType: "module", globals: { ...globals.node, WebAssembly: "readonly" } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "no-var": "error",
      "prefer-const": "error",
      "no-console": "off",
      "no-shadow": "error",
    },
  },
];
