"""What the audit and the laws must notice: tasks with a hole, and rubrics with a mistake."""
